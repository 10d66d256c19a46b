"""What nodes send: heartbeats, commitments, proofs; and what they ask before."""

from fastapi import APIRouter, Request, Response

from oracle.api.limits import RateLimit
from oracle.pipeline.desk import Desk
from oracle.pipeline.intake import plans_of, take_commitment, take_heartbeat, take_proof
from oracle.schemas import CommitmentBody, HeartbeatBody, HexAddress, ProofBody
from oracle.store import evidence
from oracle.store.evidence import Saved
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.model import WindowRecord
from swarm_chain.core.units import Address, epoch_of


def node_routes(desk: Desk, limit: RateLimit) -> APIRouter:
    """Routes of nodes.

    Args:
        desk: where messages arrive.
        limit: buckets by host and node.
    """
    router = APIRouter(prefix="/v1", tags=["nodes"])

    @router.post("/heartbeats", status_code=202)
    def post_heartbeat(body: HeartbeatBody, request: Request) -> dict[str, object]:
        limit.take(_host(request), body.heartbeat.node)
        return {"duplicate": not take_heartbeat(desk, *body.to_core())}

    @router.post("/commitments", status_code=202)
    def post_commitment(body: CommitmentBody, request: Request, response: Response) -> dict[str, object]:
        limit.take(_host(request), body.commitment.node)
        saved, received = take_commitment(desk, body.to_core())
        if saved is Saved.CONFLICT:
            response.status_code = 409
            kept = to_hex(received.signed.commitment.root)
            message = f"root {kept} was committed before; both signatures are kept as evidence"
            return {"error": "equivocation", "message": message, "fix": "", "values": {"root": kept}}
        return {"elapsedMs": received.elapsed_ms, "duplicate": saved is Saved.DUPLICATE}

    @router.post("/proofs", status_code=202)
    def post_proof(body: ProofBody, request: Request) -> dict[str, object]:
        limit.take(_host(request), body.proof.node)
        return {"duplicate": take_proof(desk, body.to_core()) is not Saved.NEW}

    @router.get("/windows/current")
    def current_windows() -> dict[str, object]:
        sight = desk.sight()
        epoch = desk.network.epoch_at(sight.now)
        return {"windows": [_window(desk, w) for w in sight.state.windows if epoch_of(w.window_id) == epoch]}

    @router.get("/plans/{node}")
    def plans_of_node(node: HexAddress) -> dict[str, object]:
        shapes = plans_of(desk, Address(node))
        plans = [{"device": d, "m": s.m, "n": s.n, "steps": s.steps} for d, s in sorted(shapes.items())]
        return {"epoch": desk.network.epoch_at(desk.sight().now), "plans": plans}

    return router


def _window(desk: Desk, window: WindowRecord) -> dict[str, object]:
    c = desk.network.params.compute
    received = sum(r.first for r in evidence.arrivals(desk.engine, [window.window_id]))
    return {
        "windowId": window.window_id,
        "state": window.state.name.lower(),
        "committed": received,
        "proven": len(evidence.proven_devices(desk.engine, window.window_id)),
        "windowSeed": to_hex(window.window_seed),
        "drawSeed": to_hex(window.draw_seed),
        "commitmentsRoot": to_hex(window.commitments_root),
        "openedAt": window.opened_at,
        "openedBlock": window.opened_block,
        "commitUntil": window.opened_at + c.commit_for if window.opened_at else 0,
        "openUntil": window.closed_at + c.open_for if window.closed_at else 0,
    }


def _host(request: Request) -> str:
    return request.client.host if request.client else ""
