"""Judges whole compute windows: who owed a run, who committed in time, whose openings are true.

owed devices + committed devices --> not planned | two commitments | late | judge_openings --> one verdict each
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from oracle.judge.compute import JudgeCase, judge_openings
from oracle.model import Equivocation, Plan
from oracle.trees import small_root, small_tree
from swarm_chain.core.compute import ComputeChallenge, ComputeShape, ComputeWindow
from swarm_chain.core.encoding import address_bytes, commitment_order, double_hash
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.model import Commitment, Proof, SignedCommitment, Verdict
from swarm_chain.core.params import ComputeParams
from swarm_chain.core.rowchain import Compute, NumpyCompute
from swarm_chain.core.signing import commitment_hash
from swarm_chain.core.units import Address, Hash32

Device = tuple[Address, int]
_REFERENCE = NumpyCompute()


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowEvidence:
    """All that is known of one drawn window.

    `owed` are the devices that had to run, with their shapes; `elapsed_ms` the medians over members, no entry means that
    most members did not get the commitment in time; `doubled` signed two different commitments.
    """

    window: ComputeWindow
    draw_seed: Hash32
    draws: int
    owed: Mapping[Device, ComputeShape] = field(default_factory=dict)
    commitments: Mapping[Device, Commitment] = field(default_factory=dict)
    proofs: Mapping[Device, Proof] = field(default_factory=dict)
    elapsed_ms: Mapping[Device, int] = field(default_factory=dict)
    doubled: frozenset[Device] = frozenset()


def judge_windows(evidence: Sequence[WindowEvidence], compute: Compute = _REFERENCE) -> tuple[Verdict, ...]:
    """Judge windows together, so that rows that share W are multiplied at once.

    Args:
        evidence: one entry a window, in any order.
        compute: backend that knows its answers; every backend gives the same verdicts.

    Returns:
        A verdict for every device that owed a run or committed to one, ordered by window, node bytes and device. Besides
        the reasons of `judge_openings`: equivocation and not_planned (failed), late (missing).
    """
    settled: list[Verdict] = []
    cases: list[JudgeCase] = []
    for window in evidence:
        for device in {**window.owed, **window.commitments}:
            found = _without_openings(window, device)
            if found is None:
                cases.append(_case(window, device))
            else:
                settled.append(found)
    return tuple(sorted((*settled, *judge_openings(cases, compute)), key=_verdict_order))


def commitments_root(commitments: Iterable[Commitment]) -> Hash32:
    """Give the root the chain stores when a window closes.

    Args:
        commitments: at most one for each device; put in order here.

    Returns:
        Root over `double_hash(commitment_hash)`, ordered by node and device; zero for none.

    Source: docs/spec/protocol.md, Trees.
    """
    ordered = sorted(commitments, key=commitment_order)
    return small_root(small_tree([double_hash(commitment_hash(commitment)) for commitment in ordered]))


def find_equivocations(signed: Iterable[SignedCommitment]) -> tuple[Equivocation, ...]:
    """Find devices that signed two different commitments for one window and seed.

    Args:
        signed: commitments whose signatures were checked; any order. Two seeds are two branches of the chain: an honest
            node may have signed for both.

    Returns:
        One pair a window, seed and device, the two with the lowest hashes, ordered by window, node bytes and device.
    """
    by_device: dict[tuple[int, bytes, int, Hash32], dict[Hash32, SignedCommitment]] = {}
    for one in signed:
        c = one.commitment
        key = (c.window_id, *commitment_order(c), c.window_seed)
        by_device.setdefault(key, {}).setdefault(commitment_hash(one.commitment), one)
    pairs = ((key, sorted(found)[:2], found) for key, found in by_device.items() if len(found) > 1)
    return tuple(
        Equivocation(first=found[first], second=found[second])
        for _, (first, second), found in sorted(pairs, key=lambda pair: pair[0])
    )


def owed_shapes(nodes: Iterable[Address], plans: Iterable[Plan], compute: ComputeParams) -> dict[Device, ComputeShape]:
    """Say which devices owe which run.

    Args:
        nodes: nodes that owe service.
        plans: what the last report fixed.
        compute: shape of a device without history.

    Returns:
        Every planned device of these nodes, and device 0 with `first_steps` for a node without any plan.
    """
    planned: dict[Address, dict[Device, ComputeShape]] = {}
    for plan in plans:
        shape = ComputeShape(m=plan.m, n=plan.n, steps=plan.steps)
        planned.setdefault(plan.node, {})[plan.node, plan.device] = shape
    first = ComputeShape(m=compute.m, n=compute.n, steps=compute.first_steps)
    owed: dict[Device, ComputeShape] = {}
    for node in nodes:
        owed |= planned.get(node, {(node, 0): first})
    return owed


def _without_openings(window: WindowEvidence, device: Device) -> Verdict | None:
    if device in window.doubled:
        return _verdict(window, device, Outcome.FAILED, "equivocation")
    if device not in window.owed:
        return _verdict(window, device, Outcome.FAILED, "not_planned")
    if device in window.commitments and device not in window.elapsed_ms:
        return _verdict(window, device, Outcome.MISSING, "late")
    return None


def _case(window: WindowEvidence, device: Device) -> JudgeCase:
    node, index = device
    return JudgeCase(
        challenge=ComputeChallenge(window=window.window, node=node, device=index, shape=window.owed[device]),
        draw_seed=window.draw_seed,
        draws=window.draws,
        # A commitment in the very millisecond of the block took part of one: no rate is infinite.
        elapsed_ms=max(window.elapsed_ms.get(device, 0), 1),
        commitment=window.commitments.get(device),
        proof=window.proofs.get(device),
    )


def _verdict(window: WindowEvidence, device: Device, outcome: Outcome, reason: str) -> Verdict:
    node, index = device
    return Verdict(window_id=window.window.window_id, node=node, device=index, outcome=outcome, reason=reason)


def _verdict_order(verdict: Verdict) -> tuple[int, bytes, int]:
    return verdict.window_id, address_bytes(verdict.node), verdict.device
