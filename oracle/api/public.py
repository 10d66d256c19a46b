"""What everybody may read: status, published epochs, proofs, metrics."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from oracle.api.answers import (
    EpochPath,
    EpochsAnswer,
    HealthAnswer,
    Json,
    ProofAnswer,
    ProviderPath,
    ReadyAnswer,
    ShardPath,
    StatusAnswer,
    errors,
    raw,
)
from oracle.api.rates import Rates, Turns, host_of
from oracle.pipeline.member import Member
from oracle.pipeline.paths import leaf_proof
from oracle.publish.answers import dump_document, explain_document, outcomes_document, proof_document
from oracle.publish.bundle import parse_bundle
from oracle.publish.report import PublishedEpoch
from oracle.publish.trees import settlement_domain
from oracle.publish.verdicts import VERDICTS
from oracle.store import documents
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.model import RootRecord
from swarm_chain.core.units import Address, EpochNumber, ProviderId

VERSION = version("swarm")
HEAVY_AT_ONCE = 2  # answers that may need an epoch built again: each takes seconds and hundreds of megabytes
FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}
DOCUMENTS = frozenset({"manifest", "bundle", "state", VERDICTS})


def public_routes(member: Member, contracts: Mapping[str, Address]) -> APIRouter:
    """Routes without authentication.

    Args:
        member: whose published epochs are served.
        contracts: addresses by name, for `/v1/status`.
    """
    router = APIRouter(tags=["public"])
    _add_probes(router, member)

    @router.get("/v1/status", response_model=StatusAnswer, responses=errors(503))
    def status() -> Json:
        """Which network this member works for, and how far it sees."""
        return _status(member, contracts)

    @router.get("/v1/epochs", response_model=EpochsAnswer, responses=errors(503))
    def epochs() -> Json:
        """Every report the chain accepted."""
        return {"epochs": [_epoch(member, root) for root in member.follower.sight.state.roots]}

    return router


def _add_probes(router: APIRouter, member: Member) -> None:
    @router.get("/healthz", response_model=HealthAnswer, responses=errors())
    def healthz() -> Json:
        """The process answers."""
        return {"ok": True}

    @router.get("/readyz", response_model=ReadyAnswer, responses=errors(503))
    def readyz() -> Json:
        """This process has seen the chain and acts for its member."""
        member.keeper.require()
        return {"ok": True, "block": member.follower.sight.latest.number}

    @router.get("/metrics", response_class=Response, responses=errors() | raw("text/plain", "Prometheus text format."))
    def metrics() -> Response:
        """Gauges and counters of this member."""
        return Response(generate_latest(member.metrics.registry), media_type=CONTENT_TYPE_LATEST)


def epoch_routes(member: Member, rates: Rates) -> APIRouter:
    """Routes of one published epoch.

    Args:
        member: whose published epochs are served.
        rates: some answers may need the epoch built again, so each host only so often.
    """
    router = APIRouter(prefix="/v1/epochs/{epoch}", tags=["epochs"])
    _add_proofs(router, member, rates)
    _add_answers(router, member, rates)

    @router.get(
        "/shards/{index}",
        response_class=Response,
        responses=errors(404)
        | raw("application/octet-stream", "32 bytes a leaf: cumReward, cumPenalty, uint128 each."),
    )
    def shard(epoch: EpochPath, index: ShardPath) -> Response:
        """A shard of the settlement leaves."""
        return _document(member, epoch, f"shards/{index}", "application/octet-stream")

    @router.get(
        "/{name}",
        response_class=Response,
        responses=errors(404) | raw("application/json", "Canonical JSON, the exact bytes that were hashed or signed."),
    )
    def document(epoch: EpochPath, name: str) -> Response:
        """The manifest, bundle or state of an epoch, or the verdicts this member signed."""
        if name not in DOCUMENTS:
            raise InvalidInputError(f"no document {name[:40]!r}", code="unknown_document", fix="see /docs")
        return _document(member, epoch, name, "application/json")

    return router


def _add_proofs(router: APIRouter, member: Member, rates: Rates) -> None:
    @router.get("/proofs/{provider}", response_model=ProofAnswer, responses=errors(404, 429, 503))
    def proof(epoch: EpochPath, provider: ProviderPath, request: Request) -> Json:
        """A provider's leaf and its path to the root on chain."""
        rates.answers.take(host_of(request), "")
        root = _root(member, epoch)
        found = leaf_proof(member.engine, root, ProviderId(provider), settlement_domain(member.network))
        return dict(proof_document(root, found))


def _add_answers(router: APIRouter, member: Member, rates: Rates) -> None:
    turns = Turns(HEAVY_AT_ONCE)

    @contextmanager
    def published_of(request: Request, epoch: int) -> Iterator[PublishedEpoch]:
        rates.answers.take(host_of(request), "")
        with turns.one():
            yield member.archive.published(EpochNumber(epoch))

    @router.get("/outcomes", response_model=Json, responses=errors(404, 429, 503))
    def outcomes(epoch: EpochPath, request: Request) -> Json:
        """Violations and judged jobs of an epoch with their paths to the outcomes root."""
        with published_of(request, epoch) as published:
            return dict(outcomes_document(published))

    @router.get(
        "/dump",
        response_class=Response,
        responses=errors(404, 429, 503)
        | raw("application/json", "Loads with StandardMerkleTree.load of OpenZeppelin."),
    )
    def dump(epoch: EpochPath, request: Request) -> Response:
        """The settlement tree in the dump format of OpenZeppelin's StandardMerkleTree."""
        with published_of(request, epoch) as published:
            content = json.dumps(dump_document(published, settlement_domain(member.network)))
        return Response(content, media_type="application/json", headers=FOREVER)

    @router.get("/explain/{provider}", response_model=Json, responses=errors(404, 429, 503))
    def explain(epoch: EpochPath, provider: ProviderPath, request: Request) -> Json:
        """Every input of a provider's reward and penalty, from measurement to leaf."""
        with published_of(request, epoch) as published:
            state = member.archive.state_at(parse_bundle(published.bundle).ref_block)
            return dict(explain_document(published, state, ProviderId(provider)))


def _status(member: Member, contracts: Mapping[str, Address]) -> Json:
    sight = member.follower.sight
    return {
        "chainId": member.network.chain_id,
        "deployment": dict(contracts),
        "params": member.network.params.name,
        "paramsVersion": member.network.params.version,
        "epoch": member.network.epoch_at(sight.now),
        "chainTime": sight.now,
        "block": sight.latest.number,
        "finalized": sight.finalized.number,
        "version": VERSION,
        "member": member.address,
        "state": _state(member),
    }


def _state(member: Member) -> str:
    if not member.keeper.holds:
        return "standby"
    return "ready" if member.sender else "dry-run"


def _epoch(member: Member, root: RootRecord) -> Json:
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
