"""The typed client with this command's key, chain, gateway and members; each is looked for when it is needed."""

from swarm_chain.adapters.clock import SystemClock
from swarm_chain.cli.context import Session
from swarm_chain.cli.keys import own_address
from swarm_chain.cli.tx import Intent, send
from swarm_chain.client.escrow import Escrow
from swarm_chain.client.gateway import Gateway
from swarm_chain.client.jobs import JobClient
from swarm_chain.client.peer import ORACLE, HttpPeer
from swarm_chain.core.model import ContractCall, TxOutcome
from swarm_chain.core.units import Address, Hash32, Signature


class SessionCustomer:
    """A customer at a terminal: asked before anything is sent, unlocked when something is signed.

    Args:
        session: the command.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def address(self) -> Address:
        """Account that pays."""
        return own_address(self._session)

    def sign_typed(self, domain: Hash32, struct_hash: Hash32) -> Signature:
        """Signature of the chosen key."""
        return self._session.signer.sign_typed(domain, struct_hash)

    def send(self, call: ContractCall, effect: str) -> TxOutcome:
        """Shows, asks, sends and waits, as the shared options say."""
        return send(self._session, Intent(call=call, effect=effect))


def escrow_of(session: Session) -> Escrow:
    """The chain's side of jobs."""
    return Escrow(reader=session.reader, deployment=session.deployment)


def client_of(session: Session) -> JobClient:
    """Jobs of the chosen key."""
    url = session.settings.gateway_url
    return JobClient(
        escrow_of(session),
        SessionCustomer(session),
        None if url is None else Gateway(url),
        [HttpPeer(url, ORACLE) for url in session.settings.oracle_urls],
        SystemClock(),
    )
