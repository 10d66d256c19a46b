"""Embeddings over HTTP as OpenAI's clients ask for them, and the key a customer's endpoint may want."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from node.serving.batches import TokenRequest
from node.serving.ingress import bounded_body, seed_of
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.serving import MAX_CONTEXT
from swarm_chain.core.units import Hash32
from swarm_chain.reference.programs.serve import EMBEDDINGS_PATH
from swarm_chain.reference.tokenmodel import ModelSizes

EmbeddingSource = Callable[[TokenRequest], Awaitable[Sequence[int]]]


class EmbeddingBody(BaseModel):
    """POST /v1/embeddings: one text, as token ids."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)

    model: Annotated[str, Field(max_length=128)]
    input: Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1, max_length=MAX_CONTEXT)]


def add_embeddings(app: FastAPI, sizes: ModelSizes, models: Mapping[str, Hash32], source: EmbeddingSource) -> None:
    """Adds the route to an ingress.

    Args:
        app: from `create_ingress`.
        sizes: the vocabulary texts are of.
        models: seeds by name; may change while it serves.
        source: where embeddings come from.
    """

    @app.post(EMBEDDINGS_PATH)
    async def embed(request: Request) -> Response:
        body = _parse(await bounded_body(request), sizes)
        asked = TokenRequest(model=seed_of(models, body.model), prompt=tuple(body.input), tokens=0)
        data = [{"object": "embedding", "index": 0, "embedding": list(await source(asked))}]
        usage = {"prompt_tokens": len(body.input), "total_tokens": len(body.input)}
        return JSONResponse({"object": "list", "model": body.model, "data": data, "usage": usage})


def require_key(app: FastAPI, key: Hash32) -> None:
    """Answers only who sends the bearer token whose keccak256 is `key`; health is everyone's to see."""

    @app.middleware("http")
    async def check(request: Request, answer: Callable[[Request], Awaitable[Response]]) -> Response:
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        if request.url.path == "/healthz" or keccak(token.encode()) == key:
            return await answer(request)
        message = "the key is missing or another. Send Authorization: Bearer <the key of the job>"
        error = {"message": message, "type": "invalid_request_error", "code": "bad_key"}
        return JSONResponse({"error": error}, 401, {"WWW-Authenticate": "Bearer"})


def _parse(body: bytes, sizes: ModelSizes) -> EmbeddingBody:
    try:
        parsed = EmbeddingBody.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "body"
        raise InvalidInputError(f"{where}: {first['msg']}", code="bad_request", fix="send token ids") from error
    if max(parsed.input) >= sizes.vocabulary:
        fix = f"use token ids below {sizes.vocabulary}"
        raise InvalidInputError("input: no such token", code="bad_request", fix=fix)
    return parsed
