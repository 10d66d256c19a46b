"""The command line against a real chain: in this process where that is enough, as a program of its own where it matters."""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from swarm_chain.adapters.keystore import KeySigner, import_key
from swarm_chain.cli.context import Session
from swarm_chain.cli.main import run
from swarm_chain.core.encoding import keccak
from swarm_chain.deploy import save_deployment
from swarm_chain.devnet import Devnet
from tests.chain_fixtures import ChainTools
from tests.integration.cli.epochs import settle_epoch
from tests.secrets_guard import remember

PASSWORD = "correct horse battery staple"
LIGHT_SCRYPT = 1024  # the real cost is tested once, in test_wallet


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """What a command left: exit code, stdout, stderr."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.out)

    @property
    def text(self) -> str:
        """Everything a person saw."""
        return self.out + self.err


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLine:
    """`swarm`, with a home of its own; `environment` holds the SWARM_* variables that are set."""

    home: Path
    environment: dict[str, str] = field(default_factory=dict)

    def __call__(self, *arguments: object) -> Finished:
        """Runs a command in this process, nobody at the terminal."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            words = [str(argument) for argument in arguments]
            code = run(words, Session(as_json="--json" in words))
        return Finished(code=code, out=out.getvalue(), err=err.getvalue())

    def ask(self, *arguments: object, code: int = 0) -> Any:
        """JSON document of a command that must end with this code."""
        done = self("--json", "--yes", *arguments)
        assert done.code == code, done.text
        return done.document

    def program(self, *arguments: object, **options: Any) -> "subprocess.Popen[str]":
        """The installed program, as a user starts it: it hears Ctrl-C even where a shell runs the tests in its background."""
        command = [str(Path(sys.executable).parent / "swarm"), *map(str, arguments)]
        environment = {**os.environ, **self.environment}
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        ignored = signal.signal(signal.SIGINT, signal.default_int_handler)  # a child inherits what is ignored
        try:
            return subprocess.Popen(command, env=environment, text=True, **pipes)
        finally:
            signal.signal(signal.SIGINT, ignored)

    def finished(self, *arguments: object, **options: Any) -> Finished:
        """The program run to its end."""
        with self.program(*arguments, **options) as process:
            out, err = process.communicate(timeout=60)
        return Finished(code=process.returncode, out=out or "", err=err or "")

    def add_key(self, name: str, private_key: bytes) -> KeySigner:
        """Puts a key into the keystore folder under PASSWORD."""
        remember(private_key, PASSWORD)
        import_key(self.home / "keys", name, private_key, PASSWORD, scrypt_n=LIGHT_SCRYPT)
        return KeySigner(private_key)


@pytest.fixture
def swarm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line with an empty home, no chain, no oracle."""
    (tmp_path / "password").write_text(PASSWORD + "\n", encoding="utf-8")
    environment = {
        "SWARM_HOME": str(tmp_path),
        "SWARM_KEYSTORE_DIR": str(tmp_path / "keys"),
        "ETH_PASSWORD": str(tmp_path / "password"),
        "SWARM_RPC_URL": "http://127.0.0.1:9",  # the discard port: nobody answers
    }
    for name in ("SWARM_DEPLOYMENT", "SWARM_ORACLE_URL", "SWARM_ACCOUNT", "SWARM_KEYSTORE", "SWARM_SIGNER_URL"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return CommandLine(home=tmp_path, environment=environment)


@pytest.fixture
def connected(swarm: CommandLine, chain: Devnet, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line on the chain, with alice's funded key as the only one."""
    save_deployment(chain.deployment, swarm.home / "deployments" / f"{chain.deployment.chain_id}.json")
    swarm.environment["SWARM_RPC_URL"] = chain.rpc_url
    monkeypatch.setenv("SWARM_RPC_URL", chain.rpc_url)
    swarm.add_key("alice", keccak(b"alice"))
    return swarm


@pytest.fixture
def alice() -> KeySigner:
    """Key of the keystore "alice"."""
    return KeySigner(keccak(b"alice"))


@dataclass(slots=True, kw_only=True)
class Shelf:
    """An HTTP server that answers GET with the documents put on it and notes what is posted."""

    url: str
    documents: dict[str, Any] = field(default_factory=dict)
    posted: list[tuple[str, Any]] = field(default_factory=list)


@pytest.fixture
def shelf() -> Iterator[Shelf]:
    """An oracle member as far as a client can tell: what it says is up to the test, lies included."""
    found = Shelf(url="")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            document = found.documents.get(self.path)
            self._answer(404 if document is None else 200, document or {"error": "unknown", "message": "unknown"})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            found.posted.append((self.path, body))
            self._answer(201, found.documents.get(self.path, {}))

        def _answer(self, status: int, document: Any) -> None:
            content = document if isinstance(document, bytes) else json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *arguments: object) -> None:
            """Keeps stderr clean: the test looks at it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    found.url = f"http://127.0.0.1:{server.server_port}"
    yield found
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def earning(tools: ChainTools, alice: KeySigner, member: KeySigner, connected: CommandLine) -> None:
    """Alice is a provider with a reward in an active root."""
    tools.register(alice)
    settle_epoch(tools, member, [(10**18, 0)], 10**18)
