"""Serving: what a node offers, the model everybody can evaluate, and the request that customers and probes both send.

    epoch's first window --model_seed--> weights of the epoch (swarm_chain.reference.tokenmodel)
    node --ServingOffer(epoch, url, rate), signed--> member --probes--> url --tokens--> member recomputes drawn ones

The weights are new in every epoch and prompts are unpredictable, so no answer can be made beforehand; arithmetic is exact, so
an answer is right or wrong on every machine. Source: docs/spec/serving.md.
"""

import re
from dataclasses import dataclass

from swarm_chain.core.encoding import canonical_json, keccak, words
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.hosts import require_host
from swarm_chain.core.signing import typed_digest
from swarm_chain.core.units import BPS, Address, Bps, EpochNumber, Hash32, Timestamp

OFFER_TYPE = "ServingOffer(uint256 epoch,address node,string url,uint256 rate,uint256 issuedAt,address member)"
COMPLETIONS_PATH = "/v1/completions"
MODEL_PREFIX = "swarm-reference-"
MAX_URL = 64
MAX_WIDTH = 1024  # a layer reads two of them: sums of 2,048 products are exact in a float32's 24 bits, in any order
MAX_CONTEXT = 4096  # tokens of prompt and answer together that an endpoint takes

_TAG_MODEL = keccak(b"swarm.serving.model.v1")
_ENDPOINT = re.compile(r"(https?)://(\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:]{2,39}\]):(\d{1,5})", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingParams:
    """Sizes of the model, of a probe's requests, and times of a probe; rates are requests a second."""

    width: int
    layers: int
    vocabulary: int
    prompt_tokens: int
    answer_tokens: int
    low_rate: int
    most_rate: int
    step_bps: Bps
    rung_for: int
    pause_for: int
    slot_for: int
    busy_for: int
    draws: int
    timeout_ms: int
    lag_us: int
    customers_bps: Bps
    least_customers: int
    private_hosts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingOffer:
    """A node says where it serves in an epoch and how many requests a second it can; of two offers the later one counts."""

    epoch: EpochNumber
    node: Address
    url: str
    rate: int
    issued_at: Timestamp
    member: Address


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionRequest:
    """One request as it goes over the wire; customers' and probes' are built by the same function."""

    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


def offer_hash(offer: ServingOffer) -> Hash32:
    """Struct hash of a ServingOffer."""
    o = offer
    return keccak(
        words(keccak(OFFER_TYPE.encode()), o.epoch, o.node, keccak(o.url.encode()), o.rate, o.issued_at, o.member)
    )


def offer_digest(domain: Hash32, offer: ServingOffer) -> Hash32:
    """What the node key signs to be probed (domain: ChallengeBeacon)."""
    return typed_digest(domain, offer_hash(offer))


def model_seed(chain_id: int, beacon: Address, epoch: EpochNumber, epoch_seed: Hash32) -> Hash32:
    """Seed of the weights of an epoch, known since its first window opened."""
    return keccak(words(_TAG_MODEL, chain_id, beacon, epoch, epoch_seed))


def model_name(seed: Hash32) -> str:
    """Name under which requests ask for the model of a seed."""
    return MODEL_PREFIX + seed[:8].hex()


def tokens_digest(tokens: tuple[int, ...]) -> Hash32:
    """keccak256 of an answer's tokens, four bytes each, big-endian."""
    return keccak(b"".join(token.to_bytes(4, "big") for token in tokens))


def completion_request(endpoint: str, model: str, prompt: tuple[int, ...], max_tokens: int) -> CompletionRequest:
    """Build the request for a completion: the only one there is, so that a probe cannot be told from a customer.

    Args:
        endpoint: base URL, as `require_endpoint` passed it.
        model: name of the model.
        prompt: token ids.
        max_tokens: tokens wanted.
    """
    body = canonical_json({"max_tokens": max_tokens, "model": model, "prompt": list(prompt), "stream": True})
    return CompletionRequest(
        url=endpoint + COMPLETIONS_PATH,
        headers=(
            ("accept", "text/event-stream"),
            ("accept-encoding", "identity"),
            ("content-type", "application/json"),
            ("user-agent", "swarm"),
        ),
        body=body,
    )


def require_endpoint(url: str, *, private: bool) -> str:
    """Check a URL a node gave: members will send it requests, so it must not lead them anywhere else.

    Args:
        url: http(s)://address:port, the address a literal one: a name could point elsewhere a second later.
        private: whether addresses that no router forwards may be probed (a network on one machine).

    Returns:
        The same URL.

    Raises:
        InvalidInputError: anything else than that, a private address where none is allowed, or one nobody may serve on.
    """
    found = _ENDPOINT.fullmatch(url) if len(url) <= MAX_URL else None
    if found is None or not 0 < int(found[3]) < 2**16:
        raise _bad_url("it is no http(s)://address:port with a literal address")
    require_host(found[2].strip("[]"), private=private, code="bad_url")
    return url


def require_rate(params: ServingParams, rate: int) -> None:
    """Refuse a claim outside the bounds.

    Raises:
        InvalidInputError: fewer than one or more than `most_rate` requests a second (code "claim").
    """
    if not 1 <= rate <= params.most_rate:
        raise InvalidInputError(
            f"{rate} requests/s cannot be claimed", code="claim", fix=f"claim from 1 to {params.most_rate} requests/s"
        )


def serving_rules(serving: ServingParams) -> dict[str, bool]:
    """Give what must hold between the numbers of serving, and whether it does."""
    s = serving
    return {
        "the width of the reference model is a multiple of 8 whose products are exact": s.width % 8 == 0
        and 8 <= s.width <= MAX_WIDTH
        and s.layers > 0,
        "prompts have at least 64 bits, so that none comes twice": s.vocabulary >= 2
        and s.prompt_tokens * (s.vocabulary.bit_length() - 1) >= 64,
        "a prompt and its answer fit the context": 0 < s.answer_tokens <= MAX_CONTEXT - s.prompt_tokens,
        "the ladder of rates must ascend": 0 < s.low_rate <= s.most_rate and s.step_bps > BPS,
        "times and draws of probes must be positive": min(s.rung_for, s.slot_for, s.draws, s.timeout_ms, s.lag_us) > 0,
    }


def _bad_url(why: str) -> InvalidInputError:
    return InvalidInputError(
        f"the URL cannot be probed: {why}", code="bad_url", fix="offer http(s)://address:port as members reach it"
    )
