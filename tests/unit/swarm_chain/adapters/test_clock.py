"""The machine's clock keeps the promises of the port."""

import time

from swarm_chain.adapters.clock import SystemClock


def test_now_is_unix_time_in_whole_seconds() -> None:
    before, now, after = int(time.time()), SystemClock().now(), int(time.time())

    assert before <= now <= after
    assert isinstance(now, int)


def test_monotonic_milliseconds_pass_while_it_sleeps() -> None:
    clock = SystemClock()
    before = clock.monotonic_ms()

    clock.sleep(0.02)

    assert clock.monotonic_ms() - before >= 20
