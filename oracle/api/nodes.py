"""What nodes send: heartbeats, commitments, proofs; and what they ask before."""

from fastapi import APIRouter, Request

from oracle.api.answers import (
    POSTED,
    AcceptedAnswer,
    CommitmentAnswer,
    Json,
    PlansAnswer,
    WindowsAnswer,
    errors,
)
from oracle.api.commitments import CommitmentInbox
from oracle.api.rates import Rates, host_of
from oracle.pipeline.desk import Desk
from oracle.pipeline.intake import plans_of, take_heartbeat, take_proof
from oracle.schemas import CommitmentBody, HeartbeatBody, ProofBody
from oracle.store import evidence
from oracle.store.evidence import Saved
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.model import WindowRecord
from swarm_chain.core.units import Address, epoch_of
from swarm_chain.web.bodies import HexAddress
from swarm_chain.web.strict_json import StrictRoute


def node_routes(desk: Desk, rates: Rates, inbox: CommitmentInbox) -> APIRouter:
    """Routes of nodes.

    Args:
        desk: where messages arrive.
        rates: buckets by host and node.
        inbox: takes the commitments.
    """
    router = APIRouter(prefix="/v1", tags=["nodes"], route_class=StrictRoute)
    _add_messages(router, desk, rates, inbox)

    @router.get("/windows/current", response_model=WindowsAnswer, responses=errors(503))
    def current_windows() -> Json:
        """Compute windows of the running epoch."""
        sight = desk.sight()
        epoch = desk.network.epoch_at(sight.now)
        return {"windows": [_window(desk, w) for w in sight.state.windows if epoch_of(w.window_id) == epoch]}

    @router.get("/plans/{node}", response_model=PlansAnswer, responses=errors(503))
    def plans_of_node(node: HexAddress) -> Json:
        """Runs the devices of a node owe in every window of the running epoch."""
        shapes = plans_of(desk, Address(node))
        plans = [{"device": d, "m": s.m, "n": s.n, "steps": s.steps} for d, s in sorted(shapes.items())]
        return {"epoch": desk.network.epoch_at(desk.sight().now), "plans": plans}

    return router


def _add_messages(router: APIRouter, desk: Desk, rates: Rates, inbox: CommitmentInbox) -> None:
    def charge(request: Request, node: str) -> None:
        rates.nodes.take(host_of(request), node if Address(node) in desk.sight().nodes else "")

    @router.post("/heartbeats", status_code=202, response_model=AcceptedAnswer, responses=errors(*POSTED))
    def post_heartbeat(body: HeartbeatBody, request: Request) -> Json:
        """A node's sign of life."""
        charge(request, body.heartbeat.node)
        return {"duplicate": not take_heartbeat(desk, *body.to_core())}

    @router.post("/commitments", status_code=202, response_model=CommitmentAnswer, responses=errors(*POSTED, 404, 409))
    async def post_commitment(body: CommitmentBody, request: Request) -> Json:
        """The root of a device's run in an open window; the first one counts."""
        return await inbox.take(body, request)

    @router.post("/proofs", status_code=202, response_model=AcceptedAnswer, responses=errors(*POSTED, 404))
    def post_proof(body: ProofBody, request: Request) -> Json:
        """The drawn rows of a commitment; the first proof counts."""
        charge(request, body.proof.node)
        return {"duplicate": take_proof(desk, body.to_core()) is not Saved.NEW}


def _window(desk: Desk, window: WindowRecord) -> Json:
    c = desk.network.params.compute
    return {
        "windowId": window.window_id,
        "state": window.state.name.lower(),
        "committed": len(evidence.committed_devices(desk.engine, window)),
        "proven": len(evidence.proven_devices(desk.engine, window.window_id)),
        "windowSeed": to_hex(window.window_seed),
        "drawSeed": to_hex(window.draw_seed),
        "commitmentsRoot": to_hex(window.commitments_root),
        "openedAt": window.opened_at,
        "openedBlock": window.opened_block,
        "commitUntil": window.opened_at + c.commit_for if window.opened_at else 0,
        "openUntil": window.closed_at + c.open_for if window.closed_at else 0,
    }
