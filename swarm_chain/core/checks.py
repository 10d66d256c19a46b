"""What a field of a question or an answer must be; each error names the field and what it takes."""

from swarm_chain.core.errors import InvalidInputError


def check_range(name: str, value: int, low: int, high: int) -> None:
    """Require low <= value <= high.

    Args:
        name: of the field, for the error.
        value: what it holds.
        low: least value, included.
        high: greatest value, included.

    Raises:
        InvalidInputError: it is out of range.
    """
    if not low <= value <= high:
        raise InvalidInputError(f"{name} = {value} is out of range", fix=f"use an integer from {low} to {high}")


def check_power_of_two(name: str, value: int, low: int, high: int) -> None:
    """Require a power of two from low to high.

    Args:
        name: of the field, for the error.
        value: what it holds.
        low: least value, included, > 0.
        high: greatest value, included.

    Raises:
        InvalidInputError: it is out of range or no power of two.
    """
    check_range(name, value, low, high)
    if value & (value - 1):
        raise InvalidInputError(
            f"{name} = {value} is not a power of two", fix=f"use a power of two from {low} to {high}"
        )


def check_bytes(name: str, value: bytes, size: int) -> None:
    """Require exactly `size` bytes.

    Args:
        name: of the field, for the error.
        value: what it holds.
        size: how many bytes it must have.

    Raises:
        InvalidInputError: it is shorter or longer.
    """
    if len(value) != size:
        raise InvalidInputError(f"{name} is {len(value)} bytes long", fix=f"give exactly {size} bytes")
