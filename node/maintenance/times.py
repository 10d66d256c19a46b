"""Points in time and lengths as people write them. Pure: the chain's time comes in as an argument."""

import re
from datetime import UTC, datetime

from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.units import Timestamp

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_LENGTH = re.compile(r"(?:\d+[smhd])+")


def parse_length(text: str) -> int:
    """Seconds of a length such as `90m`, `2h30m` or `1d`.

    Args:
        text: numbers with their units s, m, h or d, largest number of seconds below 2^32.

    Raises:
        InvalidInputError: anything else, or nothing at all.
    """
    whole = text.strip().lower()
    parts = re.findall(r"(\d+)([smhd])", whole) if _LENGTH.fullmatch(whole) else []
    seconds = sum(int(number) * _UNITS[unit] for number, unit in parts)
    if not 0 < seconds < 2**32:
        raise InvalidInputError(f"no length {text!r}", fix="write it as 90m, 2h30m or 1d", code="usage")
    return seconds


def parse_moment(text: str, now: Timestamp) -> Timestamp:
    """A point in time, unix s.

    Args:
        text: `+2h` from now, unix seconds, or ISO 8601; without an offset it is UTC.
        now: the chain's time, unix s.

    Raises:
        InvalidInputError: anything else.
    """
    written = text.strip()
    if written.startswith("+"):
        return Timestamp(now + parse_length(written[1:]))
    if written.isdecimal() and len(written) < 12:
        return Timestamp(int(written))
    try:
        moment = datetime.fromisoformat(written)
    except ValueError as error:
        raise InvalidInputError(
            f"no point in time {text!r}", fix="write it as +2h, 2030-01-31T18:00Z or unix seconds", code="usage"
        ) from error
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return Timestamp(int(aware.timestamp()))
