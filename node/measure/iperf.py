"""Reads iperf3's report of a TCP run: what arrived, in which time, as integers.

A node reports it about itself and one peer, so it can only lower what an audit proved.
"""

import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from swarm_chain.core.errors import InvalidInputError

_BITS_PER_MBIT = 10**6
_LONGEST_S = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class IperfReport:
    """One run: iperf3's own name of its version, bytes that arrived, us it took, and 10^6 bit/s of that, rounded down."""

    version: str
    received_bytes: int
    elapsed_us: int
    mbps: int


def parse_iperf3(text: str) -> IperfReport:
    """Read the JSON of a TCP client strictly; what was sent does not count, what arrived does.

    Args:
        text: what `iperf3 --client HOST --json` printed.

    Raises:
        InvalidInputError: no JSON, a run that failed, of UDP, that moved nothing, or a number that is none
            (bad_iperf_output).

    Source: iperf3's manual, option --json; objects start.test_start and end.sum_received.
    """
    try:
        document = json.loads(text, parse_float=Decimal, parse_constant=_no_constant)
        if "error" in document:
            raise _bad(f"it failed: {document['error']}")
        version, protocol = document["start"]["version"], document["start"]["test_start"]["protocol"]
        received = document["end"]["sum_received"]
        size, elapsed_us = _whole(received["bytes"]), _microseconds(received["seconds"])
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise _bad(f"{type(error).__name__} {error}") from error
    if protocol != "TCP" or not isinstance(version, str) or not size or not elapsed_us:
        raise _bad("no TCP run, no version, or nothing arrived")
    mbps = size * 8 * 10**6 // (elapsed_us * _BITS_PER_MBIT)
    return IperfReport(version=version[:64], received_bytes=size, elapsed_us=elapsed_us, mbps=mbps)


def _whole(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 2**63:
        raise _bad(f"bytes is {str(value)[:40]!r}")
    return value


def _microseconds(value: Any) -> int:
    if type(value) not in (int, Decimal) or not 0 < value <= _LONGEST_S:
        raise _bad(f"seconds is {str(value)[:40]!r}")
    exact = Decimal(value) * 10**6
    return int(exact) + (exact != int(exact))  # rounded up: a fraction of a microsecond makes nobody faster


def _no_constant(name: str) -> Any:
    raise _bad(f"{name} is no number")


def _bad(what: str) -> InvalidInputError:
    return InvalidInputError(
        f"iperf3 printed no report of a TCP run: {what[:200]}",
        fix="use iperf 3.1 or later with --json",
        code="bad_iperf_output",
    )
