"""Who gets the lease, as a table: one holder at a time, a token that goes up with every new one."""

import pytest

from oracle.store.leases import Lease, grant

LASTS_MS = 15_000
FREE = Lease(holder="", token=0, lasts_ms=0, expires_ms=0)
HELD = Lease(holder="a", token=3, lasts_ms=LASTS_MS, expires_ms=100_000)
RELEASED = Lease(holder="a", token=3, lasts_ms=LASTS_MS, expires_ms=0)
HOUR_MS = 3_600_000


@pytest.mark.parametrize(
    ("kept", "holder", "now_ms", "token"),
    [
        pytest.param(FREE, "a", 1, 1, id="first"),
        pytest.param(HELD, "a", 99_999, 3, id="renewed"),
        pytest.param(HELD, "a", 500_000, 3, id="renewed-after-it-lapsed"),
        pytest.param(HELD, "b", 99_999, None, id="held-by-another"),
        pytest.param(HELD, "b", 100_000, 4, id="lapsed"),
        pytest.param(RELEASED, "b", 90_000, 4, id="released"),
        pytest.param(RELEASED, "a", 90_000, 3, id="taken-again"),
        pytest.param(HELD, "b", 100_000 - HOUR_MS, 4, id="clock-set-back-an-hour"),
        pytest.param(HELD, "b", 100_000 - 2 * LASTS_MS, None, id="clock-set-back-a-little"),
    ],
)
def test_lease_when_asked_for_then_one_process_has_it(kept: Lease, holder: str, now_ms: int, token: int | None) -> None:
    granted = grant(kept, holder, now_ms, LASTS_MS)
    want = token and Lease(holder=holder, token=token, lasts_ms=LASTS_MS, expires_ms=now_ms + LASTS_MS)
    assert granted == want
