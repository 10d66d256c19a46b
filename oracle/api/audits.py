"""Audits: a node asks to be audited after a window closed, answers, and opens what was drawn."""

import asyncio

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool

from oracle.api.answers import POSTED, AuditAnswered, AuditBegun, AuditNonce, AuditsAnswer, Json, NothingAnswer, errors
from oracle.api.limits import arrived_ms
from oracle.api.rates import RateLimit, host_of
from oracle.pipeline.audits import Auditing, asked_audit, asked_in_ms, take_answer, take_openings, take_request
from oracle.schemas import AuditAnswerBody, AuditOpeningsBody, AuditRequestBody
from oracle.store.audits import Audit, audits_of
from oracle.store.evidence import Instant
from swarm_chain.core.encoding import canonical_json, hash_from_hex, to_hex
from swarm_chain.core.errors import UnavailableError
from swarm_chain.core.units import Address
from swarm_chain.web.bodies import HexAddress, HexHash, signature_bytes
from swarm_chain.web.strict_json import StrictRoute

LISTED = 64
HELD_MS = 2000


def audit_routes(auditing: Auditing, rate: RateLimit) -> APIRouter:
    """Routes of audits.

    Args:
        auditing: the member.
        rate: buckets by host and node.
    """
    router = APIRouter(prefix="/v1/audits", tags=["audits"], route_class=StrictRoute)
    _ask(router, auditing, rate)
    _answer(router, auditing, rate)

    @router.get("/{node}", response_model=AuditsAnswer, responses=errors(429))
    def audits_of_node(node: HexAddress, request: Request) -> Json:
        """The newest audits of a node by this member, and why one proved nothing; openings and draws are not told."""
        rate.take(host_of(request), "")
        return {"audits": [_audit(one) for one in audits_of(auditing.desk.engine, Address(node), LISTED)]}

    return router


def _ask(router: APIRouter, auditing: Auditing, rate: RateLimit) -> None:
    @router.post("", status_code=201, response_model=AuditBegun, responses=errors(*POSTED, 404, 409))
    def post_request(body: AuditRequestBody, request: Request) -> Json:
        """Begins an audit, whose clock starts in `askedInMs`, with the nonce; the same request gets the same audit."""
        node = body.request.node
        rate.take(host_of(request), node if Address(node) in auditing.desk.sight().nodes else "")
        audit = take_request(auditing, body.to_core(), signature_bytes(body.signature))
        wait_ms = asked_in_ms(auditing, audit)
        return {
            "auditId": to_hex(audit.audit_id),
            "askedInMs": wait_ms,
            "nonce": None if wait_ms else to_hex(audit.nonce),
            "limitMs": auditing.auditors[audit.category].limit_ms(audit.claim),
        }

    @router.get("/{audit_id}/nonce", response_model=AuditNonce, responses=errors(404, 429, 503))
    async def nonce_of_audit(audit_id: HexHash, request: Request) -> Json:
        """The question, in its moment: a call that comes up to two seconds before is held until then."""
        rate.take(host_of(request), "")
        audit = await run_in_threadpool(asked_audit, auditing, hash_from_hex(audit_id))
        wait_ms = asked_in_ms(auditing, audit)
        if wait_ms > HELD_MS:
            raise UnavailableError(
                f"it is asked in {wait_ms} ms", code="too_early", fix="come again then", retry_after=wait_ms // 1000
            )
        await asyncio.sleep(wait_ms / 1000)
        return {"nonce": to_hex(audit.nonce)}


def _answer(router: APIRouter, auditing: Auditing, rate: RateLimit) -> None:
    @router.post("/answers", status_code=202, response_model=AuditAnswered, responses=errors(*POSTED, 404, 409))
    def post_answer(body: AuditAnswerBody, request: Request) -> Json:
        """Stops the clock; `draw` says what to open."""
        rate.take(host_of(request), "")
        at = Instant(boot=auditing.desk.boot, ms=arrived_ms(request))
        audit = take_answer(auditing, body.to_core(), signature_bytes(body.signature), at)
        return {"elapsedMs": audit.elapsed_ms, "draw": to_hex(audit.draw)}

    @router.post("/{audit_id}/openings", status_code=202, response_model=NothingAnswer, responses=errors(*POSTED, 404))
    def post_openings(audit_id: HexHash, body: AuditOpeningsBody, request: Request) -> Json:
        """Openings of what was drawn; they are judged later, the first ones count."""
        rate.take(host_of(request), "")
        take_openings(auditing, hash_from_hex(audit_id), canonical_json(body.openings))
        return {}


def _audit(audit: Audit) -> Json:
    return {
        "windowId": audit.window_id,
        "device": audit.device,
        "category": audit.category.value,
        "claim": audit.claim,
        "elapsedMs": audit.elapsed_ms,
        "outcome": None if audit.outcome is None else audit.outcome.value,
        "reason": audit.reason,
        "units": audit.units,
    }
