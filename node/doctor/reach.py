"""Whether ports of this machine are reachable from outside: members call back, a listener waits for their greeting.

port free   --listen--> member connects, writes its line --> the nonce says that the call came through to here
port in use ----------> member connects: what answers should be the program that listens here
"""

import secrets
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread

from node.doctor.facts import Called, Reach
from node.oracle_client import HttpOracleAudits, JsonHttp
from swarm_chain.adapters.rpc import redacted
from swarm_chain.core.callbacks import CallbackRequest, callback_hash, greeting
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.errors import SwarmError
from swarm_chain.core.units import Hash32, Signature, Timestamp
from swarm_chain.ports import Signer

LIVES_FOR = 30  # seconds: within what every preset lets a message live
LINE_BYTES = 128
LINE_S = 1.0
EVERYWHERE = "0.0.0.0"  # noqa: S104  # being reachable is the question; it takes a line, answers nothing, and is gone in seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Who asks: the node's key, the domain of its messages, and chain time, unix s."""

    signer: Signer
    domain: Hash32
    now: Timestamp


def reach(port: int, urls: Sequence[str], asker: Asker, host: str = EVERYWHERE) -> Reach:
    """Has every member try a port.

    Args:
        port: of this machine, from 1024.
        urls: members, one after the other.
        asker: who signs.
        host: address to listen on meanwhile.
    """
    with _listening(host, port) as lines:
        called = tuple(_ask(url, port, asker, lines) for url in urls)
    return Reach(port=port, is_free=lines is not None, called=called)


def _ask(url: str, port: int, asker: Asker, lines: "SimpleQueue[bytes] | None") -> Called:
    http, nonce = JsonHttp(url), Hash32(secrets.token_bytes(32))
    try:
        request = CallbackRequest(
            node=asker.signer.address,
            member=HttpOracleAudits(http).address(),
            port=port,
            nonce=nonce,
            issued_at=asker.now,
            expires_at=Timestamp(asker.now + LIVES_FOR),
        )
        signature = asker.signer.sign_typed(asker.domain, callback_hash(request))
        said = http.post("/v1/callbacks", callback_body(request, signature))
    except SwarmError as error:
        return Called(member=redacted(url), refusal=error.message[:LINE_BYTES])
    finally:
        http.close()
    return Called(
        member=redacted(url),
        is_reached=said.get("reached") is True,
        came_through=lines is not None and said.get("reached") is True and _arrives(greeting(nonce), lines),
        problem=str(said.get("problem", ""))[:LINE_BYTES],
    )


def _arrives(wanted: bytes, lines: "SimpleQueue[bytes]") -> bool:
    """Whether a line comes: the member has written it, but the thread that reads it may be a moment behind."""
    try:
        while lines.get(timeout=LINE_S) != wanted:
            pass
    except Empty:
        return False
    return True


def callback_body(request: CallbackRequest, signature: Signature) -> dict[str, object]:
    """Body of POST /v1/callbacks."""
    fields = {
        "node": request.node,
        "member": request.member,
        "port": request.port,
        "nonce": to_hex(request.nonce),
        "issuedAt": request.issued_at,
        "expiresAt": request.expires_at,
    }
    return {"request": fields, "signature": to_hex(signature)}


@contextmanager
def _listening(host: str, port: int) -> Iterator["SimpleQueue[bytes] | None"]:
    """Lines that arrive at a port while it is listened on; None if a program has it already."""
    try:
        listener = socket.create_server((host, port))
    except OSError:
        yield None
        return
    lines: SimpleQueue[bytes] = SimpleQueue()
    thread = Thread(target=_collect, args=(listener, lines), name="doctor-port", daemon=True)
    thread.start()
    try:
        yield lines
    finally:
        listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits in accept
        listener.close()
        thread.join(LINE_S * 2)


def _collect(listener: socket.socket, lines: "SimpleQueue[bytes]") -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection:
            connection.settimeout(LINE_S)
            try:
                lines.put(connection.recv(LINE_BYTES))
            except OSError:
                continue
