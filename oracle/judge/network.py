"""Judges bandwidth audits: both ways whole and right, each in time; the slower way is what was proven.

    NetworkCase --screen--> root over what was sent? every byte back, in the drawn order? in time? --> NetworkVerdict

Times are the member's own, and no number of the node is among what is judged. Source: docs/spec/network.md.
"""

from dataclasses import dataclass

from swarm_chain.core.kinds import Outcome
from swarm_chain.core.network import rate_mbps
from swarm_chain.core.units import Hash32

# No fault of the node's that could be shown, and nothing proven either.
_MISSING = frozenset({"no_download", "no_upload", "other_clock"})


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkCase:
    """One audit as the member saw it.

    `size` is that of the payload in bytes; `sent_root` over what was sent, None where it was not sent to its end; `root` the
    node's. `down_ms` runs from the first byte sent to the answer, `up_ms` from the answer to the last byte that came back;
    None where the member's clock cannot say. `fault` is what was wrong with the bytes that came back.
    """

    claim: int
    size: int
    limit_ms: int
    sent_root: Hash32 | None
    root: Hash32
    down_ms: int | None
    up_ms: int | None
    fault: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkVerdict:
    """The judge's finding; rates are 10^6 bit/s, rounded down, and zero unless it passed. `mbps` is at most the claim."""

    outcome: Outcome
    reason: str = ""
    down_mbps: int = 0
    up_mbps: int = 0
    mbps: int = 0


def judge_network(case: NetworkCase) -> NetworkVerdict:
    """Judge one audit.

    Args:
        case: what was asked and what came.

    Returns:
        The verdict. `reason` is no_download, no_upload, other_clock (missing); wrong_root, wrong_bytes, too_late (failed);
        empty (passed).

    Source: docs/spec/network.md "Verdict".
    """
    if case.sent_root is None:
        return _without("no_download")
    if case.root != case.sent_root:
        return _without("wrong_root")
    if case.fault:
        return _without(case.fault)
    if case.down_ms is None or case.up_ms is None:
        return _without("other_clock")
    if max(case.down_ms, case.up_ms) > case.limit_ms:
        return _without("too_late")
    down, up = rate_mbps(case.size, case.down_ms), rate_mbps(case.size, case.up_ms)
    return NetworkVerdict(outcome=Outcome.PASSED, down_mbps=down, up_mbps=up, mbps=min(down, up, case.claim))


def _without(reason: str) -> NetworkVerdict:
    return NetworkVerdict(outcome=Outcome.MISSING if reason in _MISSING else Outcome.FAILED, reason=reason)
