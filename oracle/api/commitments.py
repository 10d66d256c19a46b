"""Commitments: the one request that every node sends in the same moment, so it does not go through the router.

POST /v1/commitments --well-formed--> checked, kept in a group, answered here
                     --malformed----> the ordinary way, which says what is wrong
"""

from functools import partial
from json import JSONDecodeError

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from oracle.api.answers import Json
from oracle.api.batches import Batches
from oracle.api.limits import arrived_ms
from oracle.api.rates import RateLimit, host_of
from oracle.pipeline.desk import Desk
from oracle.pipeline.intake import Incoming, arrive, keep_commitments
from oracle.pipeline.lease import LeaseKeeper
from oracle.schemas import CommitmentBody
from oracle.store.evidence import Instant, Saved
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.errors import RejectedError, SwarmError
from swarm_chain.core.units import Address
from swarm_chain.web.errors import refusal
from swarm_chain.web.strict_json import read_json

PATH = "/v1/commitments"


class CommitmentInbox:
    """Takes commitments in, in groups.

    Args:
        desk: where they arrive.
        rate: buckets by host and node.
    """

    def __init__(self, desk: Desk, rate: RateLimit) -> None:
        self._desk = desk
        self._rate = rate
        self._batches = Batches(partial(arrive, desk), partial(keep_commitments, desk))

    async def take(self, body: CommitmentBody, request: Request) -> Json:
        """Answer to a commitment, once it is kept.

        Raises:
            SwarmError: it is not taken; RejectedError if the device committed to another root before.
        """
        node = body.commitment.node
        self._rate.take(host_of(request), node if Address(node) in self._desk.sight().nodes else "")
        at = Instant(boot=self._desk.boot, ms=arrived_ms(request))
        saved, received = await self._batches.put(Incoming(signed=body.to_core(), at=at))
        if saved is Saved.CONFLICT:
            raise _equivocation(to_hex(received.signed.commitment.root))
        return {"elapsedMs": received.elapsed_ms, "duplicate": saved is Saved.DUPLICATE}


class CommitmentLane:
    """ASGI middleware that answers well-formed commitments; a thousand of them at once are a second of routing less.

    Args:
        app: takes everything else.
        inbox: takes the commitments.
        keeper: says whether this process acts for the member.
    """

    def __init__(self, app: ASGIApp, inbox: CommitmentInbox, keeper: LeaseKeeper) -> None:
        self._app = app
        self._inbox = inbox
        self._keeper = keeper

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST" or scope["path"] != PATH:
            await self._app(scope, receive, send)
            return
        message = await receive()  # the whole body: BodyLimits has put it together
        body = _parsed(message.get("body", b""))
        if body is None:
            await self._app(scope, _again(message, receive), send)
            return
        response = await self._answer(body, Request(scope))
        await response(scope, receive, send)

    async def _answer(self, body: CommitmentBody, request: Request) -> JSONResponse:
        try:
            self._keeper.require()
            return JSONResponse(await self._inbox.take(body, request), status_code=202)
        except SwarmError as error:
            return refusal(error, PATH)


def _parsed(content: bytes) -> CommitmentBody | None:
    try:
        return CommitmentBody.model_validate(read_json(content))
    except (JSONDecodeError, RecursionError, ValidationError):
        return None


def _again(message: Message, receive: Receive) -> Receive:
    waiting = [message]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay


def _equivocation(root: str) -> RejectedError:
    return RejectedError(
        f"root {root} was committed before; both signatures are kept as evidence",
        code="equivocation",
        fix="nothing can be done: two commitments for one window and device are a proof by themselves",
        values={"root": root},
    )
