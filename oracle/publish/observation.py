"""Bytes of an observation: what one member saw of an epoch, signed over their sha256."""

from dataclasses import fields
from typing import Any

from oracle.economy import Service
from oracle.model import Arrival, JobFinding, Measurement, Mismatch, Observation, RollCall
from oracle.publish import fields as f
from oracle.publish.json_codec import MAX_DEVICE
from swarm_chain.core.checkpoints import MAX_CHECKPOINTS
from swarm_chain.core.encoding import address_bytes, canonical_json, sha256_digest, to_hex
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.kinds import Category, Outcome
from swarm_chain.core.signing import observation_digest
from swarm_chain.core.units import BPS, EpochNumber, Hash32, JobId, WindowId

_FIGURES = tuple(figure.name for figure in fields(Service))  # in the order of the document


def observation_json(observation: Observation) -> f.Json:
    """An observation as JSON (protocol.md, Documents of an epoch)."""
    return {
        "epoch": observation.epoch,
        "member": observation.member,
        "arrivals": [[a.window_id, a.node, a.device, a.elapsed_ms] for a in observation.arrivals],
        "rollCalls": [[call.node, call.present, call.total] for call in observation.roll_calls],
        "jobs": [_job_row(job) for job in observation.jobs],
        "measurements": [_measurement_row(one) for one in observation.measurements],
    }


def observation_bytes(observation: Observation) -> bytes:
    """Canonical JSON of an observation."""
    return canonical_json(observation_json(observation))


def content_hash(observation: Observation) -> Hash32:
    """sha256 of an observation's canonical JSON: what its signature is over."""
    return sha256_digest(observation_bytes(observation))


def signing_digest(observation: Observation, domain: Hash32) -> Hash32:
    """What a member signs over its observation.

    Args:
        observation: the observation.
        domain: EIP-712 domain of ChallengeBeacon.
    """
    return observation_digest(domain, observation.epoch, observation.member, content_hash(observation))


def ordered_observation(observation: Observation) -> Observation:
    """The same observation with its lists in the only order a document may have.

    Raises:
        InvalidInputError: an entry comes twice.
    """
    ordered = Observation(
        epoch=observation.epoch,
        member=observation.member,
        arrivals=tuple(sorted(observation.arrivals, key=_arrival_key)),
        roll_calls=tuple(sorted(observation.roll_calls, key=_roll_call_key)),
        jobs=tuple(sorted(observation.jobs, key=_job_key)),
        measurements=tuple(sorted(observation.measurements, key=_measurement_key)),
    )
    _require_ordered(ordered, "observation")
    return ordered


def read_observation(value: object, where: str) -> Observation:
    """Read what `observation_json` wrote.

    Raises:
        InvalidInputError: anything else, or lists that are not ordered.
    """
    o = f.fields(value, where, "epoch", "member", "arrivals", "rollCalls", "jobs", "measurements")
    observation = Observation(
        epoch=EpochNumber(f.integer(o["epoch"], f"{where}.epoch", f.UINT32_MAX)),
        member=f.address(o["member"], f"{where}.member"),
        arrivals=f.rows(o["arrivals"], f"{where}.arrivals", _read_arrival),
        roll_calls=f.rows(o["rollCalls"], f"{where}.rollCalls", _read_roll_call),
        jobs=f.rows(o["jobs"], f"{where}.jobs", _read_job),
        measurements=f.rows(o["measurements"], f"{where}.measurements", _read_measurement),
    )
    _require_ordered(observation, where)
    return observation


def parse_observation(data: bytes) -> Observation:
    """Read what `observation_bytes` wrote.

    Raises:
        InvalidInputError: anything else.
    """
    return read_observation(f.load_canonical(data, "observation"), "observation")


def _read_arrival(value: object, where: str) -> Arrival:
    window_id, node, device, elapsed_ms = f.row(value, where, 4)
    return Arrival(
        window_id=WindowId(f.integer(window_id, where)),
        node=f.address(node, where),
        device=f.integer(device, where, MAX_DEVICE),
        elapsed_ms=f.integer(elapsed_ms, where),
    )


def _read_roll_call(value: object, where: str) -> RollCall:
    node, present, total = f.row(value, where, 3)
    most = f.integer(total, where, f.UINT32_MAX)
    return RollCall(node=f.address(node, where), present=f.integer(present, where, most), total=most)


def _job_row(job: JobFinding) -> list[object]:
    other = job.mismatch
    return [job.job_id, job.outcome.value, job.reason, other and [other.content, to_hex(other.computed)]]


def _read_job(value: object, where: str) -> JobFinding:
    job_id, outcome, reason, other = f.row(value, where, 4)
    if outcome not in list(Outcome):
        raise InvalidInputError(f"{where}: {outcome!r} is no outcome", code="bad_document", fix="use passed or failed")
    if other is not None and outcome != Outcome.FAILED:
        raise InvalidInputError(f"{where}: {outcome} with a mismatch", code="bad_document", fix="use failed, or null")
    return JobFinding(
        job_id=JobId(f.integer(job_id, where)),
        outcome=Outcome(str(outcome)),
        reason=f.text(reason, where),
        mismatch=None if other is None else _read_mismatch(other, where),
    )


def _read_mismatch(value: object, where: str) -> Mismatch:
    content, computed = f.row(value, where, 2)
    return Mismatch(content=f.integer(content, where, MAX_CHECKPOINTS - 1, least=1), computed=f.hash32(computed, where))


def _measurement_row(one: Measurement) -> list[object]:
    figures = [getattr(one.service, figure) for figure in _FIGURES]
    return [one.node, one.category.value, one.units, *figures]


def _read_measurement(value: object, where: str) -> Measurement:
    node, category, units, *figures = f.row(value, where, 3 + len(_FIGURES))
    read = Category(f.choice(category, where, list(Category)))
    if read is Category.COMPUTE and units is not None:
        raise InvalidInputError(
            f"{where}: compute has no units beside its verdicts", code="bad_document", fix="use null"
        )
    return Measurement(
        node=f.address(node, where),
        category=read,
        units=f.optional_integer(units, where),
        service=Service(**{name: _figure(name, one, where) for name, one in zip(_FIGURES, figures, strict=True)}),
    )


def _figure(name: str, value: object, where: str) -> Any:
    if value is None:
        return None
    return f.integer(value, where, BPS) if name.endswith("_bps") else f.integer(value, where)


def _require_ordered(observation: Observation, where: str) -> None:
    f.require_ascending(map(_arrival_key, observation.arrivals), f"{where}.arrivals")
    f.require_ascending(map(_roll_call_key, observation.roll_calls), f"{where}.rollCalls")
    f.require_ascending(map(_job_key, observation.jobs), f"{where}.jobs")
    f.require_ascending(map(_measurement_key, observation.measurements), f"{where}.measurements")


def _arrival_key(arrival: Arrival) -> tuple[int, bytes, int]:
    return arrival.window_id, address_bytes(arrival.node), arrival.device


def _roll_call_key(call: RollCall) -> tuple[bytes]:
    return (address_bytes(call.node),)


def _measurement_key(one: Measurement) -> tuple[bytes, int]:
    return address_bytes(one.node), list(Category).index(one.category)


def _job_key(job: JobFinding) -> tuple[int]:
    return (job.job_id,)
