"""A client for Python programs: their key, their chain."""

from collections.abc import Sequence

from swarm_chain.adapters.clock import SystemClock
from swarm_chain.adapters.connection import ChainConnection
from swarm_chain.adapters.sender import send_and_wait
from swarm_chain.client.escrow import Escrow
from swarm_chain.client.gateway import Gateway
from swarm_chain.client.jobs import JobClient
from swarm_chain.client.peer import ORACLE, HttpPeer
from swarm_chain.core.model import ContractCall, Deployment, TxOutcome
from swarm_chain.core.units import Address, Hash32, Signature
from swarm_chain.ports import Signer


class KeyCustomer:
    """A customer whose key signs without asking anybody.

    Args:
        connection: the chain.
        signer: the key.
    """

    def __init__(self, connection: ChainConnection, signer: Signer) -> None:
        self._writer, self._signer = connection.writer(signer), signer

    @property
    def address(self) -> Address:
        """Account that pays."""
        return self._signer.address

    def sign_typed(self, domain: Hash32, struct_hash: Hash32) -> Signature:
        """As Signer.sign_typed."""
        return self._signer.sign_typed(domain, struct_hash)

    def send(self, call: ContractCall, effect: str) -> TxOutcome:  # noqa: ARG002 - for those who ask a person
        """Sends one transaction and waits until it is mined."""
        return send_and_wait(self._writer, call, SystemClock())


def connect_jobs(
    connection: ChainConnection,
    deployment: Deployment,
    signer: Signer,
    *,
    gateway_url: str | None = None,
    oracle_urls: Sequence[str] = (),
) -> JobClient:
    """A customer's client; nothing is asked yet.

    Args:
        connection: the deployment's chain, as `connect_chain` gives it.
        deployment: where the contracts are.
        signer: key of the customer.
        gateway_url: base URL of a gateway; None: any node may take what is posted.
        oracle_urls: base URLs of members, best first.
    """
    return JobClient(
        Escrow(reader=connection.reader, deployment=deployment),
        KeyCustomer(connection, signer),
        None if gateway_url is None else Gateway(gateway_url),
        [HttpPeer(url, ORACLE) for url in oracle_urls],
        SystemClock(),
    )
