"""What each member measured, by node: the inputs below the medians, for whoever asks why a leaf is what it is."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache

from pydantic.alias_generators import to_camel

from oracle.economy import Service
from oracle.model import EpochFacts, JobFinding, Measurement
from oracle.publish.bundle import parse_bundle
from oracle.publish.fields import Json
from oracle.rewards.weights import device_capacities
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.kinds import Category
from swarm_chain.core.model import Verdict
from swarm_chain.core.units import Address, JobId, WindowId

Place = tuple[WindowId, Address, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Observations and commitments of a bundle, by what they are about."""

    arrivals: dict[Place, list[tuple[Address, int]]]
    shapes: dict[Place, tuple[int, int, int]]
    roll_calls: dict[Address, list[tuple[Address, int, int]]]
    findings: dict[JobId, list[tuple[Address, JobFinding]]]
    measurements: dict[Address, list[tuple[Address, Measurement]]]


@lru_cache(maxsize=2)  # asked once for each provider; parsing a large bundle takes longer than all the answers from it
def measured(bundle: bytes) -> Measured:
    """Sort a published bundle by window, node and job.

    Args:
        bundle: the published bytes.

    Raises:
        InvalidInputError: no bundle.
    """
    arrivals, roll_calls, findings, measurements = (defaultdict(list) for _ in range(4))
    parsed = parse_bundle(bundle)
    for observation in (signed.observation for signed in parsed.observations):
        by = observation.member
        for a in observation.arrivals:
            arrivals[a.window_id, a.node, a.device].append((by, a.elapsed_ms))
        for call in observation.roll_calls:
            roll_calls[call.node].append((by, call.present, call.total))
        for job in observation.jobs:
            findings[job.job_id].append((by, job))
        for one in observation.measurements:
            measurements[one.node].append((by, one))
    commitments = (signed.commitment for signed in parsed.commitments)
    return Measured(
        arrivals=dict(arrivals),
        shapes={(c.window_id, c.node, c.device): (c.m, c.n, c.steps) for c in commitments},
        roll_calls=dict(roll_calls),
        findings=dict(findings),
        measurements=dict(measurements),
    )


def verdict_json(verdict: Verdict, found: Measured) -> Json:
    """A verdict with the shape the device committed to and every member's own arrival; `elapsedMs` is their median.

    Args:
        verdict: of one window and device.
        found: what the members measured.
    """
    place = (verdict.window_id, verdict.node, verdict.device)
    shape = found.shapes.get(place)
    return {
        "windowId": verdict.window_id,
        "node": verdict.node,
        "device": verdict.device,
        "outcome": verdict.outcome.value,
        "reason": verdict.reason,
        "row": verdict.row,
        "rowsChecked": verdict.rows_checked,
        "plan": None if shape is None else {"m": shape[0], "n": shape[1], "steps": shape[2]},
        "arrivals": [
            {"member": member, "elapsedMs": elapsed_ms} for member, elapsed_ms in found.arrivals.get(place, [])
        ],
        "elapsedMs": verdict.elapsed_ms,
        "mtops": verdict.mtops,
    }


def availability_json(nodes: Sequence[Address], facts: EpochFacts, found: Measured) -> list[Json]:
    """Every member's roll calls of the nodes, their median, and what maintenance excuses; both in bps.

    Args:
        nodes: a provider's.
        facts: the medians.
        found: what the members measured.
    """
    return [
        {
            "node": node,
            "rollCalls": [
                {"member": member, "present": present, "total": total}
                for member, present, total in found.roll_calls.get(node, [])
            ],
            "availabilityBps": facts.availability.get(node),
            "maintenanceBps": facts.maintenance.get(node, 0),
        }
        for node in nodes
    ]


def measurements_json(nodes: Sequence[Address], facts: EpochFacts, found: Measured) -> list[Json]:
    """What every member measured of the nodes in each category, and the medians that count.

    Args:
        nodes: a provider's.
        facts: the medians.
        found: what the members measured.
    """
    return [
        {
            "node": node,
            "category": category.value,
            "units": facts.proven.get(category, {}).get(node, 0),
            **_service_json(facts.services.get((category, node), Service())),
            "members": [
                {"member": member, "units": one.units, **_service_json(one.service)}
                for member, one in found.measurements.get(node, [])
                if one.category is category
            ],
        }
        for node in nodes
        for category in Category
        if any(one.category is category for _, one in found.measurements.get(node, []))
    ]


def _service_json(service: Service) -> Json:
    return {to_camel(figure.name): getattr(service, figure.name) for figure in fields(Service)}


def capacities_json(nodes: Collection[Address], facts: EpochFacts) -> list[Json]:
    """Capacity of each device that passed every window: the least it proved in any of them."""
    capacities = device_capacities(facts.verdicts, len(facts.windows))
    return [
        {"node": node, "device": device, "mtops": mtops}
        for (node, device), mtops in sorted(capacities.items())
        if node in nodes
    ]


def jobs_json(jobs: Collection[JobId], facts: EpochFacts, found: Measured) -> list[Json]:
    """What the members together found on jobs, and each of them alone.

    Args:
        jobs: a provider's.
        facts: the common findings.
        found: what the members measured.
    """
    return [
        {
            "jobId": job.job_id,
            "outcome": job.outcome.value,
            "reason": job.reason,
            "deviceSeconds": job.device_seconds,
            "forged": job.forged is not None,
            "findings": [
                {"member": member, "outcome": one.outcome.value, "reason": one.reason, "mismatch": mismatch_json(one)}
                for member, one in found.findings.get(job.job_id, [])
            ],
        }
        for job in facts.jobs
        if job.job_id in jobs
    ]


def mismatch_json(finding: JobFinding) -> Json | None:
    """Number and hash of the content a member computed otherwise; None if there is none."""
    other = finding.mismatch
    return None if other is None else {"content": other.content, "computed": to_hex(other.computed)}
