"""Number kinds: window ids and what people are shown."""

import pytest

from swarm_chain.core.units import EpochNumber, Wei, epoch_of, format_swm, window_id


def test_window_id_holds_epoch_and_window_and_gives_the_epoch_back() -> None:
    made = window_id(EpochNumber(7), 3)

    assert made == 7 << 16 | 3
    assert epoch_of(made) == 7


@pytest.mark.parametrize(("epoch", "window"), [(-1, 0), (0, -1), (0, 65_536)])
def test_window_id_out_of_range_is_refused(epoch: int, window: int) -> None:
    with pytest.raises(ValueError, match="no window"):
        window_id(EpochNumber(epoch), window)


@pytest.mark.parametrize(
    ("amount", "decimals", "shown"),
    [
        (0, 4, "0.0000"),
        (10**18, 4, "1.0000"),
        (1_234_567 * 10**18 + 89 * 10**16, 2, "1,234,567.89"),
        (99_999, 4, "0.0000"),
        (-(10**18) - 5 * 10**17, 1, "-1.5"),
        (10**18 - 1, 18, "0.999999999999999999"),
        (19 * 10**17, 0, "1"),
    ],
)
def test_amount_is_shown_rounded_towards_zero(amount: int, decimals: int, shown: str) -> None:
    assert format_swm(Wei(amount), decimals) == shown
