"""How stake goes in and out: permit, requests, and the call that lets a request leave."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from swarm_chain.cli.context import Session
from swarm_chain.cli.keys import own_address
from swarm_chain.cli.output import swm
from swarm_chain.cli.settlement import fetch_leaf, latest_active_root
from swarm_chain.cli.tx import Intent, send
from swarm_chain.cli.views import chain_time, view
from swarm_chain.core.encoding import keccak, words
from swarm_chain.core.model import ContractCall, TxOutcome
from swarm_chain.core.units import Address, Hash32, ProviderId, Signature, Timestamp, Wei

PERMIT_TYPE = "Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)"
PERMIT_FOR = 1200  # seconds a permit stays valid, chain time


@dataclass(frozen=True, slots=True, kw_only=True)
class UnbondRequest:
    """Stake on its way out; `value_wei` is what it would pay now."""

    request_id: int
    value_wei: Wei
    matures_at: Timestamp

    def document(self) -> dict[str, object]:
        """JSON-ready form."""
        return {"requestId": self.request_id, "valueWei": self.value_wei, "maturesAt": self.matures_at}


def put_in(session: Session, provider_id: ProviderId, wei: Wei) -> TxOutcome:
    """Stakes with the allowance there is, else with a permit, so that no first transaction can be left without its second.

    A key that signs elsewhere cannot give a permit: --unsigned writes the approval first, and the stake when it is repeated.
    """
    owner, vault = own_address(session), session.deployment.contracts["StakeVault"]
    effect = f"stake {swm(wei)} on provider {provider_id}; it can be slashed until it is withdrawn"
    if view(session, "SwarmToken", "allowance", owner, vault) >= wei:
        call = ContractCall(contract="StakeVault", function="stake", args=(provider_id, wei))
    elif session.options.get("unsigned"):
        call = ContractCall(contract="SwarmToken", function="approve", args=(vault, wei))
        effect = f"let the vault take {swm(wei)}; once it is mined, repeat this command for the stake itself"
    else:
        args = permit_args(session, owner, vault, wei)
        call = ContractCall(contract="StakeVault", function="stakeWithPermit", args=(provider_id, wei, *args))
    return send(session, Intent(call=call, effect=effect))


def permit_args(session: Session, owner: Address, spender: Address, wei: Wei) -> tuple[int, int, bytes, bytes]:
    """Deadline, v, r and s of a permit over exactly this amount.

    Source: EIP-2612.
    """
    deadline = chain_time(session) + PERMIT_FOR
    nonce = view(session, "SwarmToken", "nonces", owner)
    domain = Hash32(view(session, "SwarmToken", "DOMAIN_SEPARATOR"))
    signature: Signature = session.signer.sign_typed(domain, permit_hash((owner, spender, wei, nonce, deadline)))
    return deadline, signature[64], signature[:32], signature[32:64]


def permit_hash(fields: tuple[Address, Address, Wei, int, int]) -> Hash32:
    """EIP-712 struct hash of a permit; `fields` are owner, spender, value, nonce and deadline."""
    return keccak(words(keccak(PERMIT_TYPE.encode()), *fields))


def open_requests(session: Session, provider_id: ProviderId) -> tuple[UnbondRequest, ...]:
    """Live unbond requests, oldest first. The vault counts them and ids ascend: at one block, the walk ends."""
    block = session.reader.block("latest")
    missing = view(session, "StakeVault", "openRequests", provider_id, at=block)
    nonce = view(session, "StakeVault", "pool", provider_id, at=block)["nonce"]
    found: list[UnbondRequest] = []
    request_id = 0
    while len(found) < missing:
        record = view(session, "StakeVault", "unbondRequest", provider_id, request_id, at=block)
        if record["shares"] and record["nonce"] == nonce:
            value = Wei(view(session, "StakeVault", "unbondValue", provider_id, request_id, at=block))
            found.append(
                UnbondRequest(request_id=request_id, value_wei=value, matures_at=Timestamp(record["maturesAt"]))
            )
        request_id += 1
    return tuple(found)


def leave_call(session: Session, provider_id: ProviderId, request_id: int) -> ContractCall:
    """The call that lets a request leave: settled first, with a verified proof, if the newest root is not settled yet."""
    settled = view(session, "StakeVault", "pool", provider_id)["settledRoots"]
    root = latest_active_root(session)
    if root is not None and settled <= root.index:
        proven = fetch_leaf(session, root, provider_id)
        if proven is not None:
            args = (*proven.call_args, request_id)
            return ContractCall(contract="RewardSettlement", function="settleAndWithdraw", args=args)
    return ContractCall(contract="StakeVault", function="withdraw", args=(provider_id, request_id))


def calendar_of(provider_id: ProviderId, requests: Iterable[UnbondRequest], now: Timestamp) -> str:
    """iCalendar text with one event for each request's unlock second.

    Source: RFC 5545.
    """
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Swarm//stake calendar//EN"]
    for request in requests:
        lines += [
            "BEGIN:VEVENT",
            f"UID:swarm-{provider_id}-{request.request_id}-{request.matures_at}",
            f"DTSTAMP:{_stamp(now)}",
            f"DTSTART:{_stamp(request.matures_at)}",
            f"SUMMARY:{swm(request.value_wei)} of provider {provider_id} can be withdrawn",
            f"DESCRIPTION:swarm stake withdraw {request.request_id}",
            "END:VEVENT",
        ]
    return "\r\n".join([*lines, "END:VCALENDAR", ""])


def _stamp(at: Timestamp) -> str:
    return datetime.fromtimestamp(at, tz=UTC).strftime("%Y%m%dT%H%M%SZ")
