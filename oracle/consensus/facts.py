"""From the evidence bundle to facts: medians over members, windows that count, and every opening judged again.

bundle --medians--> elapsed, availability, findings, proven units, services
                    chain --window_counts--> windows with their true roots, --maintenance_bps--> what was announced and is excused
both --judge_windows--> verdicts                           findings + receipts --> judged jobs
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from oracle.consensus.job_facts import judged_jobs
from oracle.consensus.medians import (
    ArrivalKey,
    median_availability,
    median_elapsed,
    median_services,
    proven_units,
)
from oracle.judge.windows import Device, WindowEvidence, commitments_root, judge_windows, owed_shapes
from oracle.maintenance import maintenance_bps
from oracle.model import Bundle, EpochFacts, MemberEquivocation, Network, Plan, PreviousEpoch
from oracle.publish.observation import content_hash
from swarm_chain.core.compute import ComputeShape, ComputeWindow
from swarm_chain.core.kinds import WindowState
from swarm_chain.core.model import ChainState, Commitment, Proof, WindowRecord
from swarm_chain.core.rowchain import Compute, NumpyCompute
from swarm_chain.core.units import EpochNumber, WindowId, epoch_of

_REFERENCE = NumpyCompute()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Evidence:
    """The bundle, sorted by window."""

    commitments: dict[WindowId, dict[Device, Commitment]]
    proofs: dict[WindowId, dict[Device, Proof]]
    elapsed_ms: dict[ArrivalKey, int]
    doubled: frozenset[ArrivalKey]
    owed: dict[Device, ComputeShape]


def facts_of(
    state: ChainState,
    bundle: Bundle,
    previous: PreviousEpoch | None,
    network: Network,
    compute: Compute = _REFERENCE,
) -> EpochFacts:
    """Judge the evidence of an epoch.

    Args:
        state: the chain, folded up to the bundle's reference block.
        bundle: evidence that `consensus.bundle.check_bundle` accepted.
        previous: gives the plans in force and the jobs judged before; None before the first report.
        network: contracts, genesis and params.
        compute: backend that recomputes drawn rows; every backend gives the same facts.

    Returns:
        Facts that follow from chain and bundle alone, whoever judges.
    """
    evidence = _sorted_evidence(state, bundle, previous, network)
    counted = counted_windows(state, bundle, network)
    windows = [_window_evidence(record, evidence, network) for record in counted]
    observations = [signed.observation for signed in bundle.observations]
    params = network.params
    return EpochFacts(
        epoch=bundle.epoch,
        windows=tuple(record.window_id for record in counted),
        verdicts=judge_windows(windows, compute),
        availability=median_availability(observations, params.epoch, params.liveness),
        jobs=judged_jobs(state, bundle, previous, network),
        maintenance=maintenance_bps(state.announcements, bundle.epoch, network),
        proven=proven_units(observations),
        services=median_services(observations),
        member_equivocations=_member_equivocations(bundle),
    )


def counted_windows(state: ChainState, bundle: Bundle, network: Network) -> tuple[WindowRecord, ...]:
    """Give the windows of the epoch that pay and punish; the others are void for everybody.

    A window counts if its rows were drawn, if nodes had their full time to open them before the epoch ended, and if the
    bundle holds exactly the commitments whose root the chain fixed before the draw (attack 15).

    Args:
        state: the chain at the reference block.
        bundle: the commitments.
        network: end of the epoch and time to open.
    """
    by_window = _by_window(bundle)
    return tuple(
        record
        for record in drawn_in_time(state, bundle.epoch, network)
        if commitments_root(by_window.get(record.window_id, {}).values()) == record.commitments_root
    )


def drawn_in_time(state: ChainState, epoch: EpochNumber, network: Network) -> Iterator[WindowRecord]:
    """Give the windows of an epoch whose rows were drawn, and that nodes had their full time to open before it ended."""
    last_close = network.epoch_end(epoch) - network.params.compute.open_for
    for record in state.windows:
        drawn = epoch_of(record.window_id) == epoch and record.state is WindowState.DRAWN
        if drawn and record.closed_at <= last_close:
            yield record


def _member_equivocations(bundle: Bundle) -> tuple[MemberEquivocation, ...]:
    return tuple(
        MemberEquivocation(
            member=pair.first.observation.member,
            first=content_hash(pair.first.observation),
            second=content_hash(pair.second.observation),
            epoch=bundle.epoch,
        )
        for pair in bundle.double_observations
    )


def _by_window(bundle: Bundle) -> dict[WindowId, dict[Device, Commitment]]:
    commitments: dict[WindowId, dict[Device, Commitment]] = {}
    for signed in bundle.commitments:
        c = signed.commitment
        commitments.setdefault(c.window_id, {})[c.node, c.device] = c
    return commitments


def _sorted_evidence(state: ChainState, bundle: Bundle, previous: PreviousEpoch | None, network: Network) -> _Evidence:
    proofs: dict[WindowId, dict[Device, Proof]] = {}
    for signed in bundle.proofs:
        p = signed.proof
        proofs.setdefault(p.window_id, {})[p.node, p.device] = p
    pairs = (pair.first.commitment for pair in bundle.equivocations)
    return _Evidence(
        commitments=_by_window(bundle),
        proofs=proofs,
        elapsed_ms=median_elapsed([signed.observation for signed in bundle.observations]),
        doubled=frozenset((c.window_id, c.node, c.device) for c in pairs),
        owed=_owed(state, bundle, previous.plans_in(bundle.epoch) if previous else (), network),
    )


def _owed(state: ChainState, bundle: Bundle, plans: Sequence[Plan], network: Network) -> dict[Device, ComputeShape]:
    live = [node for provider in state.providers for node in provider.nodes]
    # A node removed during the epoch owes nothing more, but is judged by what it did commit to.
    committed = {signed.commitment.node for signed in bundle.commitments}
    return owed_shapes({**dict.fromkeys(live), **dict.fromkeys(sorted(committed))}, plans, network.params.compute)


def _window_evidence(record: WindowRecord, evidence: _Evidence, network: Network) -> WindowEvidence:
    def of_window(keys: frozenset[ArrivalKey]) -> frozenset[Device]:
        return frozenset((node, device) for window_id, node, device in keys if window_id == record.window_id)

    elapsed = evidence.elapsed_ms
    return WindowEvidence(
        window=ComputeWindow(
            chain_id=network.chain_id,
            beacon=network.beacon,
            window_id=record.window_id,
            window_seed=record.window_seed,
        ),
        draw_seed=record.draw_seed,
        draws=network.params.compute.draws,
        owed=evidence.owed,
        commitments=evidence.commitments.get(record.window_id, {}),
        proofs=evidence.proofs.get(record.window_id, {}),
        elapsed_ms={
            (node, device): elapsed_ms
            for (window_id, node, device), elapsed_ms in elapsed.items()
            if window_id == record.window_id
        },
        doubled=of_window(evidence.doubled),
    )
