"""The bounds of fields: both ends belong to the range, and an error names the field and what it takes."""

import pytest

from swarm_chain.core.checks import check_bytes, check_power_of_two, check_range
from swarm_chain.core.errors import InvalidInputError


@pytest.mark.parametrize(("value", "fits"), [(1, False), (2, True), (9, True), (10, False), (-2, False)])
def test_range_when_a_value_is_checked_then_both_ends_belong_to_it(value: int, fits: bool) -> None:
    if fits:
        check_range("steps", value, 2, 9)
    else:
        with pytest.raises(InvalidInputError, match=f"steps = {value} is out of range") as caught:
            check_range("steps", value, 2, 9)
        assert caught.value.fix == "use an integer from 2 to 9"


@pytest.mark.parametrize("value", [2, 64, 256])
def test_power_of_two_when_it_is_one_in_range_then_it_passes(value: int) -> None:
    check_power_of_two("m", value, 2, 256)


@pytest.mark.parametrize("value", [0, 1, 3, 96, 255, 512, -4])
def test_power_of_two_when_it_is_none_or_out_of_range_then_it_is_refused(value: int) -> None:
    with pytest.raises(InvalidInputError, match=f"m = {value} is "):
        check_power_of_two("m", value, 2, 256)


@pytest.mark.parametrize("size", [0, 31, 33])
def test_bytes_when_there_are_more_or_fewer_then_they_are_refused(size: int) -> None:
    check_bytes("nonce", bytes(32), 32)
    with pytest.raises(InvalidInputError, match=f"nonce is {size} bytes long"):
        check_bytes("nonce", bytes(size), 32)
