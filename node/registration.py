"""Adds this machine to a provider: makes the hot key if there is none, signs the admission, sends addNode."""

import secrets
from dataclasses import dataclass

from node.config import NodeSettings
from node.main import node_signer
from swarm_chain.adapters.keystore import KeySigner, create_keystore, find_keystore
from swarm_chain.adapters.private_files import write_private
from swarm_chain.cli.context import Session
from swarm_chain.cli.tx import Intent, send
from swarm_chain.cli.views import chain_time, view
from swarm_chain.core.errors import InvalidInputError, RejectedError
from swarm_chain.core.model import ContractCall, TxOutcome
from swarm_chain.core.signing import admission_hash, domain_separator
from swarm_chain.core.units import Address, ProviderId

ADMISSION_FOR = 1200  # seconds a signed admission may wait for its transaction, chain time


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """What came of a registration; `outcome` is None if the node had been added before."""

    node: Address
    provider_id: ProviderId
    outcome: TxOutcome | None


def hot_key(settings: NodeSettings) -> KeySigner:
    """The node's key; made together with a random password on first use, both readable by their owner only."""
    if not settings.key_file.exists():
        write_private(settings.password_file, secrets.token_urlsafe(32))
        password = settings.password_file.read_text(encoding="utf-8").strip("\r\n")
        create_keystore(settings.folder, settings.key_file.name, password)
    return node_signer(settings)


def known_address(settings: NodeSettings) -> Address:
    """Address of the node's key, without its password.

    Raises:
        InvalidInputError: there is no key yet (exit 3).
    """
    if not settings.key_file.exists():
        raise InvalidInputError(
            f"there is no node key in {settings.folder}",
            fix="make one and add it to a provider: swarm node register",
            code="keystore_missing",
            exit_code=3,
        )
    return find_keystore(settings.folder, settings.key_file.name).address or node_signer(settings).address


def register_node(session: Session, settings: NodeSettings, provider_id: ProviderId) -> Registration:
    """Adds the node to a provider; repeating it is harmless.

    Args:
        session: chain and the owner's or operator's key, which pays.
        settings: where the node's key is or will be.
        provider_id: an existing provider.

    Raises:
        RejectedError: the node belongs to another provider, or the chain refuses.
    """
    signer = hot_key(settings)
    present = ProviderId(view(session, "ProviderRegistry", "providerIdOfNode", signer.address))
    if present == provider_id:
        return Registration(node=signer.address, provider_id=provider_id, outcome=None)
    if present:
        raise RejectedError(
            f"node {signer.address} belongs to provider {present}",
            fix="give this machine another --folder, so that it gets a key of its own",
            code="NodeAlreadyAdded",
            values={"node": signer.address, "providerId": present},
        )
    outcome = send(session, _intent(session, signer, provider_id))
    return Registration(node=signer.address, provider_id=provider_id, outcome=outcome)


def _intent(session: Session, signer: KeySigner, provider_id: ProviderId) -> Intent:
    deployment = session.deployment
    domain = domain_separator(deployment.chain_id, deployment.contracts["ProviderRegistry"])
    nonce = view(session, "ProviderRegistry", "nodeNonce", signer.address)
    deadline = chain_time(session) + ADMISSION_FOR
    signature = signer.sign_typed(domain, admission_hash(provider_id, signer.address, nonce, deadline))
    args = (provider_id, signer.address, deadline, signature)
    call = ContractCall(contract="ProviderRegistry", function="addNode", args=args)
    return Intent(call=call, effect=f"add node {signer.address} to provider {provider_id}")
