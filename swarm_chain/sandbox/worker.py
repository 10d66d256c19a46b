"""The process in which foreign code runs: reads one request, calls one function, writes one answer."""

import json
import os
import sys
import traceback
from collections.abc import Callable
from importlib import import_module
from typing import BinaryIO, Final

from swarm_chain.core.encoding import canonical_json
from swarm_chain.core.errors import InconsistentError, InvalidInputError, SwarmError
from swarm_chain.sandbox.frames import framed, read_frame

READY: Final = b"ready"  # written before any foreign code runs: what goes wrong earlier is the machine's fault

Answer = Callable[[list[bytes]], bytes]
_inside: list[bool] = []  # filled in a sandbox


def serve(function: str) -> None:
    """Answers the request on standard input by a function, as "module:name" of `Answer`, and ends the process.

    Foreign code finds neither request nor answer on the standard streams: what it prints goes to the error stream.
    """
    _inside.append(True)
    pipe = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    module, _, name = function.partition(":")
    answer: Answer = getattr(import_module(module), name)
    request = _read_all(sys.stdin.buffer)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    pipe.write(framed([READY]))
    pipe.flush()
    pipe.write(framed(_answered(answer, request)))
    pipe.flush()
    os._exit(0)


def require_inside() -> None:
    """Guards what runs foreign code.

    Raises:
        InconsistentError: this process is no sandbox.
    """
    if not _inside:
        raise InconsistentError(
            "a customer's code runs in a sandbox only",
            fix="call swarm_chain.reference.programs.sandboxed.compute_unit",
            code="not_sandboxed",
        )


def _read_all(stream: BinaryIO) -> list[bytes]:
    count = int.from_bytes(read_frame(stream), "big")
    return [read_frame(stream) for _ in range(count)]


def _answered(answer: Answer, request: list[bytes]) -> list[bytes]:
    try:
        found = answer(request)
        if not isinstance(found, bytes):
            raise InvalidInputError(
                f"the customer's code gives {type(found).__name__}, not bytes", code="customer_code"
            )
        return [canonical_json({"ok": True}), found]
    except SwarmError as error:
        return [_refusal(type(error).__name__, error.message, error.fix, error.code)]
    except BaseException as error:  # noqa: BLE001 - whatever foreign code raises, SystemExit too, is its own fault
        traceback.print_exc()
        sys.stderr.flush()
        said = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        return [_refusal("InvalidInputError", f"the customer's code raises {said}", "", "customer_code")]


def _refusal(family: str, message: str, fix: str, code: str) -> bytes:
    return json.dumps({"ok": False, "family": family, "message": message, "fix": fix, "code": code}).encode()
