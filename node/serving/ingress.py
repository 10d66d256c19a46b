"""The HTTP side of serving: OpenAI-compatible completions over token ids, as JSON or as server-sent events.

Ray Serve's own proxy is one a cluster, bound where the first application wanted it; agents that share a cluster need an address
each. So the agent answers HTTP itself and hands requests to its deployment.
"""

import json
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Annotated, Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from node.serving.batches import TokenRequest
from swarm_chain.core.errors import InvalidInputError, SwarmError, UnavailableError
from swarm_chain.core.serving import COMPLETIONS_PATH, MAX_CONTEXT
from swarm_chain.core.units import Hash32
from swarm_chain.reference.tokenmodel import ModelSizes

MAX_BODY_BYTES = 64 * 1024
TokenSource = Callable[[TokenRequest], AsyncIterator[list[int]]]
_STATUS = {"unknown_model": 404, "too_large": 413, "bad_key": 401}


class CompletionBody(BaseModel):
    """POST /v1/completions; what OpenAI's clients send beside these fields changes nothing: decoding is greedy."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)

    model: Annotated[str, Field(max_length=128)]
    prompt: Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1, max_length=MAX_CONTEXT)]
    max_tokens: Annotated[int, Field(ge=1, le=MAX_CONTEXT)] = 16
    stream: bool = False


def create_ingress(params: ModelSizes, models: Mapping[str, Hash32], source: TokenSource) -> FastAPI:
    """The HTTP application of an endpoint.

    Args:
        params: the vocabulary prompts are of.
        models: seeds by name; may change while it serves.
        source: where tokens come from, in chunks.
    """
    app = FastAPI(title="Swarm serving", version="1", redoc_url=None, docs_url=None, openapi_url=None)

    @app.exception_handler(SwarmError)
    async def refuse(_request: Request, error: SwarmError) -> Response:
        status = 503 if isinstance(error, UnavailableError) else _STATUS.get(error.code, 422)
        message = {"message": f"{error.message}. {error.fix}".strip(), "type": "invalid_request_error"}
        headers = {"Retry-After": "1"} if status == 503 else {}
        return JSONResponse({"error": {**message, "code": error.code}}, status, headers)

    @app.get("/healthz")
    async def health() -> dict[str, object]:
        return {"status": "ok", "models": sorted(models)}

    @app.post(COMPLETIONS_PATH)
    async def completions(request: Request) -> Response:
        body = parse_completion(await bounded_body(request), params)
        seed, prompt = seed_of(models, body.model), tuple(body.prompt)
        chunks = source(TokenRequest(model=seed, prompt=prompt, tokens=body.max_tokens, streamed=body.stream))
        if body.stream:
            first = await anext(chunks)  # a refusal can still have a status of its own now
            return StreamingResponse(_events(body, first, chunks), media_type="text/event-stream")
        tokens = [token async for chunk in chunks for token in chunk]
        usage = {"prompt_tokens": len(body.prompt), "completion_tokens": len(tokens)}
        return JSONResponse({**_completion(body, tokens, "length"), "usage": usage})

    return app


def parse_completion(body: bytes, params: ModelSizes) -> CompletionBody:
    """Read a completion request.

    Raises:
        InvalidInputError: it is none, of tokens that do not exist, or longer than the context.
    """
    try:
        parsed = CompletionBody.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InvalidInputError(
            f"{where or 'body'}: {first['msg']}", code="bad_request", fix="send token ids"
        ) from error
    if max(parsed.prompt) >= params.vocabulary:
        raise InvalidInputError(
            "prompt: no such token", code="bad_request", fix=f"use token ids below {params.vocabulary}"
        )
    if len(parsed.prompt) + parsed.max_tokens > MAX_CONTEXT:
        raise InvalidInputError(
            "prompt and answer are too long", code="bad_request", fix=f"{MAX_CONTEXT} tokens at most"
        )
    return parsed


def seed_of(models: Mapping[str, Hash32], name: str) -> Hash32:
    """Seed of a model that is served.

    Raises:
        InvalidInputError: there is none of that name.
    """
    if name not in models:
        raise InvalidInputError(
            f"no model {name}", code="unknown_model", fix=f"ask for one of {', '.join(sorted(models))}"
        )
    return models[name]


async def bounded_body(request: Request) -> bytes:
    """Body of a request.

    Raises:
        InvalidInputError: it is larger than MAX_BODY_BYTES.
    """
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY_BYTES:
            raise InvalidInputError("the body is too large", code="too_large", fix=f"{MAX_BODY_BYTES} bytes at most")
    return body


async def _events(body: CompletionBody, first: list[int], chunks: AsyncIterator[list[int]]) -> AsyncIterator[bytes]:
    yield _event(_completion(body, first, None))
    async for chunk in chunks:
        yield _event(_completion(body, chunk, None))
    yield _event(_completion(body, [], "length"))
    yield b"data: [DONE]\n\n"


def _event(document: Mapping[str, Any]) -> bytes:
    return b"data: " + json.dumps(document, separators=(",", ":")).encode() + b"\n\n"


def _completion(body: CompletionBody, tokens: list[int], reason: str | None) -> dict[str, Any]:
    choice = {"index": 0, "text": " ".join(map(str, tokens)), "token_ids": tokens, "finish_reason": reason}
    return {"object": "text_completion", "model": body.model, "choices": [choice]}
