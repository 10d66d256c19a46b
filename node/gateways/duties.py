"""Carries out what `next_steps` asks for at gateways, and notes what came of it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import structlog

from node.gateway_model import (
    AnnounceNode,
    AskAssignments,
    Countersign,
    Errand,
    FetchInputs,
    GatewaySight,
    Handed,
    HandInJob,
)
from node.gateways.board import ANNOUNCED_FOR
from node.gateways.errands import Delivery, Seal, announce, ask, countersign, fetch, hand_in
from node.gateways.ports import FinishedErrand, Gateway, Gateways
from node.gateways.records import keep_countersignature, note_handed
from node.jobs.folder import JobFolder
from node.memory import Memory
from node.model import JobPhase, OwnJob, View
from node.records import end_job, job_spec, own_jobs
from node.tools import Tools
from swarm_chain.core.errors import InconsistentError, InvalidInputError
from swarm_chain.core.jobs import parse_job_spec
from swarm_chain.core.units import Hash32, JobId, Signature, Timestamp

log = structlog.get_logger()

Work = Callable[[], object]


def start_errand(tools: Tools, memory: Memory, view: View, errand: Errand) -> None:
    """Starts an errand beside the agent."""
    gateways = gateways_of(tools)
    work = _WORKS[type(errand)](tools, view, errand, gateways.known[errand.gateway])
    if isinstance(errand, AskAssignments):
        _see(memory, errand.gateway, asked_ms=tools.clock.monotonic_ms())
    if isinstance(errand, HandInJob):
        memory.handed_ms[errand.job_id] = tools.clock.monotonic_ms()
    gateways.courier.start(errand, work)


def collect_errand(tools: Tools, memory: Memory, done: FinishedErrand) -> None:
    """Notes what came of an errand.

    Args:
        tools: ports and records.
        memory: what is known of gateways.
        done: the errand with what it found, or its error.
    """
    if done.error is not None:
        _collect_failure(tools, done)
        return
    errand, found = done.errand, done.found
    if isinstance(errand, AnnounceNode) and isinstance(found, int):
        _see(memory, errand.gateway, announced_until=Timestamp(found))
        log.info("node_announced", gateway=errand.gateway, until=found)
    elif isinstance(errand, AskAssignments) and isinstance(found, tuple):
        _see(memory, errand.gateway, address=found[0], assigned=found[1])
    elif isinstance(errand, HandInJob) and isinstance(found, Handed):
        note_handed(tools.state, errand.job_id, found)
    elif isinstance(errand, Countersign) and isinstance(found, bytes):
        keep_countersignature(tools.state, errand.job_id, Signature(found))
        log.info("receipt_countersigned", job_id=errand.job_id, gateway=errand.gateway)


def sights(tools: Tools, memory: Memory) -> tuple[GatewaySight, ...]:
    """What is known of the gateways this node works for."""
    if tools.gateways is None:
        return ()
    return tuple(memory.gateways.get(name, GatewaySight(name=name)) for name in tools.gateways.known)


def lacking_inputs(tools: Tools, memory: Memory, jobs: Iterable[OwnJob]) -> frozenset[JobId]:
    """Jobs that wait for their start and of whose inputs not all are here.

    Args:
        tools: where inputs are kept.
        memory: which jobs run.
        jobs: own jobs.
    """
    if tools.gateways is None:
        return frozenset()
    begun = (JobPhase.WAITING, JobPhase.ACCEPTING, JobPhase.RUNNING)
    open_jobs = (job.job_id for job in jobs if job.phase in begun and job.job_id not in memory.active_jobs)
    has = tools.gateways.inputs.has
    return frozenset(job_id for job_id in open_jobs if not all(map(has, _wanted(tools, job_id))))


def inputs_at_hand(tools: Tools, hashes: Iterable[Hash32]) -> Mapping[Hash32, bytes]:
    """Those of some inputs that are on this machine."""
    return {} if tools.gateways is None else tools.gateways.inputs.read(hashes)


def gateways_of(tools: Tools) -> Gateways:
    """The gateways of an agent that has some."""
    if tools.gateways is None:
        raise InconsistentError("this agent works for no gateway", fix="set SWARM_GATEWAY_URL")
    return tools.gateways


def _announce(tools: Tools, view: View, _: AnnounceNode, gateway: Gateway) -> Work:
    return partial(announce, gateway, _seal(tools, view), gateways_of(tools).offer, ANNOUNCED_FOR)


def _ask(tools: Tools, _: View, __: AskAssignments, gateway: Gateway) -> Work:
    return partial(ask, gateway, tools.node)


def _fetch(tools: Tools, _: View, errand: FetchInputs, gateway: Gateway) -> Work:
    return partial(fetch, gateway, gateways_of(tools).inputs, _wanted(tools, errand.job_id))


def _hand_in(tools: Tools, view: View, errand: HandInJob, gateway: Gateway) -> Work:
    job = _job(tools, errand.job_id)
    delivery = Delivery(
        job_id=job.job_id,
        folder=JobFolder(path=gateways_of(tools).jobs / str(job.job_id)),
        handed=Handed() if job.gateway is None else job.gateway.handed,
        count=None if job.signed is None else len(job.signed.contents),
    )
    return partial(hand_in, gateway, _seal(tools, view), delivery)


def _countersign(tools: Tools, _: View, errand: Countersign, gateway: Gateway) -> Work:
    job = _job(tools, errand.job_id)
    if job.signed is None or job.gateway is None:
        raise InconsistentError(f"no receipt is stored for job {job.job_id}")
    return partial(countersign, gateway, job.gateway.gateway, tools.domain, job.signed)


def _collect_failure(tools: Tools, done: FinishedErrand) -> None:
    errand, error = done.errand, done.error
    if error is None:
        return
    log.warning(
        "errand_failed", errand=type(errand).__name__, gateway=errand.gateway, code=error.code, reason=error.message
    )
    if isinstance(errand, FetchInputs) and isinstance(error, InvalidInputError):
        _decline_waiting(tools, errand.job_id, error.message)
    if isinstance(errand, Countersign) and error.code == "contents_missing":
        note_handed(tools.state, errand.job_id, Handed())  # it has lost them: once more from the start


def _decline_waiting(tools: Tools, job_id: JobId, reason: str) -> None:
    if _job(tools, job_id).phase is JobPhase.WAITING:
        end_job(tools.state, job_id, JobPhase.DECLINED, reason)
        log.info("job_declined", job_id=job_id, reason=reason)


def _seal(tools: Tools, view: View) -> Seal:
    began_ms, head = tools.clock.monotonic_ms(), view.block.timestamp

    def now() -> Timestamp:
        return Timestamp(head + (tools.clock.monotonic_ms() - began_ms) // 1000)

    return Seal(signer=tools.signer, domain=tools.domain, now=now)


def _job(tools: Tools, job_id: JobId) -> OwnJob:
    found = next((job for job in own_jobs(tools.state) if job.job_id == job_id), None)
    if found is None:
        raise InconsistentError(f"job {job_id} is not known here")
    return found


def _wanted(tools: Tools, job_id: JobId) -> tuple[Hash32, ...]:
    known = job_spec(tools.state, job_id)
    try:
        return () if known is None else parse_job_spec(known[0]).input_hashes
    except InvalidInputError:  # a spec of another version, or none: it is declined where it is opened
        return ()


def _see(memory: Memory, name: str, **found: Any) -> None:
    memory.gateways[name] = replace(memory.gateways.get(name, GatewaySight(name=name)), **found)


_WORKS: Mapping[type, Callable[[Tools, View, Any, Gateway], Work]] = {
    AnnounceNode: _announce,
    AskAssignments: _ask,
    FetchInputs: _fetch,
    HandInJob: _hand_in,
    Countersign: _countersign,
}
