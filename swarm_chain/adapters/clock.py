"""The machine's clock as a port."""

import time

from swarm_chain.core.units import Timestamp


class SystemClock:
    """Clock of the machine this process runs on."""

    def now(self) -> Timestamp:
        """Unix time, whole seconds."""
        return Timestamp(int(time.time()))

    def monotonic_ms(self) -> int:
        """Milliseconds since an arbitrary start; never goes back."""
        return time.monotonic_ns() // 1_000_000

    def sleep(self, seconds: float) -> None:
        """Waits."""
        time.sleep(seconds)
