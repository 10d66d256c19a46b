"""What everybody may read: status, published epochs, proofs, metrics."""

import json
from collections.abc import Mapping

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from oracle.pipeline.member import Member
from oracle.publish.answers import dump_document, explain_document, outcomes_document, proof_document
from oracle.publish.bundle import parse_bundle
from oracle.publish.trees import settlement_domain
from oracle.store import documents
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.model import RootRecord
from swarm_chain.core.units import Address, EpochNumber, ProviderId

FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}
DOCUMENTS = {"manifest": "application/json", "bundle": "application/json", "state": "application/json"}


def public_routes(member: Member, contracts: Mapping[str, Address]) -> APIRouter:
    """Routes without authentication.

    Args:
        member: whose published epochs are served.
        contracts: addresses by name, for `/v1/status`.
    """
    router = APIRouter(tags=["public"])

    @router.get("/healthz")
    def healthz() -> dict[str, object]:
        return {"ok": True}

    @router.get("/readyz")
    def readyz() -> dict[str, object]:
        return {"ok": True, "block": member.follower.sight.latest.number}

    @router.get("/metrics")
    def metrics() -> Response:
        return Response(generate_latest(member.metrics.registry), media_type=CONTENT_TYPE_LATEST)

    @router.get("/v1/status")
    def status() -> dict[str, object]:
        return _status(member, contracts)

    @router.get("/v1/epochs")
    def epochs() -> dict[str, object]:
        return {"epochs": [_epoch(member, root) for root in member.follower.sight.state.roots]}

    return router


def epoch_routes(member: Member) -> APIRouter:
    """Routes of one published epoch."""
    router = APIRouter(prefix="/v1/epochs/{epoch}", tags=["epochs"])

    @router.get("/shards/{index}")
    def shard(epoch: int, index: int) -> Response:
        return _document(member, epoch, f"shards/{index}", "application/octet-stream")

    @router.get("/proofs/{provider}")
    def proof(epoch: int, provider: int) -> dict[str, object]:
        root = _root(member, epoch)
        published = member.archive.published(EpochNumber(epoch))
        return dict(proof_document(published, ProviderId(provider), root.index))

    @router.get("/outcomes")
    def outcomes(epoch: int) -> dict[str, object]:
        return dict(outcomes_document(member.archive.published(EpochNumber(epoch))))

    @router.get("/dump")
    def dump(epoch: int) -> Response:
        published = member.archive.published(EpochNumber(epoch))
        content = json.dumps(dump_document(published, settlement_domain(member.network)))
        return Response(content, media_type="application/json", headers=FOREVER)

    @router.get("/explain/{provider}")
    def explain(epoch: int, provider: int) -> dict[str, object]:
        published = member.archive.published(EpochNumber(epoch))
        state = member.archive.state_at(parse_bundle(published.bundle).ref_block)
        return dict(explain_document(published, state, ProviderId(provider)))

    @router.get("/{name}")
    def document(epoch: int, name: str) -> Response:
        if name not in DOCUMENTS:
            raise InvalidInputError(f"no document {name[:40]!r}", code="unknown_document", fix="see /docs")
        return _document(member, epoch, name, DOCUMENTS[name])

    return router


def _status(member: Member, contracts: Mapping[str, Address]) -> dict[str, object]:
    sight = member.follower.sight
    return {
        "chainId": member.network.chain_id,
        "deployment": dict(contracts),
        "params": member.network.params.name,
        "paramsVersion": member.network.params.version,
        "epoch": member.network.epoch_at(sight.now),
        "chainTime": sight.now,
        "block": sight.latest.number,
        "member": member.address,
        "state": "ready" if member.sender else "dry-run",
    }


def _epoch(member: Member, root: RootRecord) -> dict[str, object]:
    report_hash = documents.document(member.engine, root.epoch, "report-hash")
    now = member.follower.sight.now
    state = "disabled" if root.disabled else "active" if root.activates_at <= now else "accepted"
    return {
        "epoch": root.epoch,
        "rootIndex": root.index,
        "root": to_hex(root.root),
        "reportHash": None if report_hash is None else to_hex(report_hash),
        "manifestHash": to_hex(root.manifest_hash),
        "leafCount": root.leaf_count,
        "activatesAt": root.activates_at,
        "state": state,
    }


def _document(member: Member, epoch: int, name: str, media_type: str) -> Response:
    published = documents.document(member.engine, EpochNumber(epoch), "published") is not None
    content = documents.document(member.engine, EpochNumber(epoch), name) if published else None
    if content is None:
        raise InvalidInputError(f"epoch {epoch} has no {name} here", code="unknown_document", fix="see /v1/epochs")
    return Response(content, media_type=media_type, headers=FOREVER)


def _root(member: Member, epoch: int) -> RootRecord:
    root = next((r for r in member.follower.sight.state.roots if r.epoch == epoch), None)
    if root is None:
        raise UnavailableError(f"the report of epoch {epoch} is not on chain yet", retry_after=5)
    return root
