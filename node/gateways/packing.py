"""Whether a content goes packed over the line to a gateway: as the last uploads measured the line, and a sample the packing."""

from collections.abc import Callable
from time import perf_counter_ns
from typing import Final

from swarm_chain.core.packing import BPS, DEFLATE, gain_us, packed, sample_of

LEAST_BYTES: Final = 4096  # below it the round trip is all that counts
_NS: Final = 1_000_000_000


class MeasuredLine:
    """The line to one gateway. The first content goes as it is: nothing is known of the line before.

    Args:
        now_ns: a clock that only goes forward.
    """

    def __init__(self, now_ns: Callable[[], int] = perf_counter_ns) -> None:
        self._now_ns = now_ns
        self._rate: int | None = None

    def send(self, body: bytes, put: Callable[[bytes, str | None], None]) -> None:
        """Sends a body as it gets there soonest, and measures the line by it.

        Args:
            body: what is to be sent.
            put: takes what goes over the line and its Content-Encoding, and returns once it has arrived.
        """
        wire, encoding = self._chosen(body)
        started = self._now_ns()
        put(wire, encoding)
        if len(wire) >= LEAST_BYTES:
            self._rate = max(1, len(wire) * _NS // max(1, self._now_ns() - started))

    def _chosen(self, body: bytes) -> tuple[bytes, str | None]:
        if self._rate is None or len(body) < LEAST_BYTES:
            return body, None
        sample, started = sample_of(body), self._now_ns()
        left_bps = len(packed(sample)) * BPS // len(sample)
        pack_rate = max(1, len(sample) * _NS // max(1, self._now_ns() - started))
        if gain_us(len(body), left_bps, pack_rate, self._rate) <= 0:
            return body, None
        return packed(body), DEFLATE
