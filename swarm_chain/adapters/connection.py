"""The one place that makes readers and writers of a chain from its endpoints: one is believed, several must agree."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from swarm_chain.adapters.panel import Quorum
from swarm_chain.adapters.quorum import QuorumReader
from swarm_chain.adapters.quorum_sender import QuorumWriter
from swarm_chain.adapters.rpc import Web3Reader, redacted
from swarm_chain.adapters.sender import Web3Writer
from swarm_chain.adapters.transaction import FeePolicy
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.model import Deployment
from swarm_chain.ports import ChainReader, ChainWriter, Signer


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainConnection:
    """A chain as its endpoints show it: `reader` for everything that is read, `writer` for a key's transactions."""

    reader: ChainReader
    _endpoints: dict[str, Web3Reader] = field(repr=False)
    _quorum: Quorum

    def writer(self, signer: Signer, *, policy: FeePolicy | None = None) -> ChainWriter:
        """Transactions of a key, through the same endpoints."""
        writers = {name: Web3Writer(reader, signer, policy=policy) for name, reader in self._endpoints.items()}
        return QuorumWriter(writers, self._quorum) if len(writers) > 1 else next(iter(writers.values()))


def connect_chain(urls: Sequence[str], deployment: Deployment, quorum: Quorum | None = None) -> ChainConnection:
    """A connection to the deployment's chain; nothing is asked yet.

    Args:
        urls: endpoints; all are asked each time, none stands for another.
        deployment: where the contracts are.
        quorum: how many must agree; a majority if not said.

    Raises:
        InvalidInputError: no endpoint, one that is none or stands there twice, or fewer than must agree (exit 3).
    """
    quorum = quorum or Quorum()
    if len(set(urls)) != len(urls):
        raise InvalidInputError(
            "an RPC endpoint is listed twice, and its word would count twice",
            fix="list every endpoint once in SWARM_RPC_URL",
            code="duplicate_rpc",
            exit_code=3,
        )
    endpoints = {name: Web3Reader(url, deployment) for name, url in zip(_names(urls), urls, strict=True)}
    reader = QuorumReader(endpoints, quorum)
    return ChainConnection(
        reader=reader if len(endpoints) > 1 else next(iter(endpoints.values())), _endpoints=endpoints, _quorum=quorum
    )


def _names(urls: Sequence[str]) -> list[str]:
    """Redacted URLs, told apart by their place in the list where two show alike."""
    shown = [redacted(url) for url in urls]
    return [name if shown.count(name) == 1 else f"{name} (number {place})" for place, name in enumerate(shown, 1)]
