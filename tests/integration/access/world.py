"""A chain on which every party of every deal exists: a provider with all its keys, a customer, jobs, accusations."""

from collections.abc import Mapping
from dataclasses import astuple, dataclass

from swarm_chain.adapters.contracts import encode_call
from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.adapters.rpc import RpcFault
from swarm_chain.core.compute import ComputeChallenge, ComputeShape
from swarm_chain.core.court import accusation_id, offence_id, seal_hash, step_tree
from swarm_chain.core.encoding import case_id, keccak, to_hex
from swarm_chain.core.kinds import Severity, ViolationClass
from swarm_chain.core.merkle import path
from swarm_chain.core.model import ContractCall, SignedCommitment, Violation
from swarm_chain.core.signing import commitment_hash
from swarm_chain.core.units import WEI_PER_SWM, Address, EpochNumber, Hash32, ProviderId, Timestamp, Wei
from swarm_chain.court.calls import accuse_call, commitment_args, court_call, seal_call
from tests.chain_fixtures import NEVER, ChainTools, drawn_window
from tests.court_world import Prover, honest_prover

SHAPE = ComputeShape(m=64, n=64, steps=3)
SALT = Hash32(bytes(31) + b"\5")
PARTIES = ("owner", "operator", "defender", "node", "customer", "accuser", "stranger")


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessWorld:
    """Who is who, and arguments with which a function gets as far as asking who calls."""

    tools: ChainTools
    keys: Mapping[str, KeySigner]
    arguments: Mapping[tuple[str, str], tuple[object, ...]]

    def address(self, party: str) -> Address:
        """Address of a party."""
        return self.keys[party].address

    def said_to(self, caller: Address, contract: str, function: str, args: tuple[object, ...]) -> str:
        """What a call from an address ends with: the name of the error, or nothing if it succeeds; nothing is sent."""
        data = encode_call(ContractCall(contract=contract, function=function, args=args))
        request = {"from": caller, "to": self.tools.address(contract), "data": to_hex(data)}
        answer = self.tools.net.rpc.ask("eth_call", [request, "latest"])
        return answer.as_error().code if isinstance(answer, RpcFault) else ""


def build_world(tools: ChainTools, member: KeySigner) -> AccessWorld:
    """Registers, stakes, posts and accuses until every gated function can be asked who may call it."""
    keys = {name: KeySigner(keccak(f"access {name}".encode())) for name in PARTIES} | {"member": member}
    for name in PARTIES:
        tools.fund(keys[name].address)
    owner, node, stranger = keys["owner"], keys["node"], keys["stranger"].address
    provider = tools.register(owner, node, stake_wei=10_000 * WEI_PER_SWM)
    tools.send(owner, "ProviderRegistry", "setOperator", provider, keys["operator"].address)
    tools.send(owner, "ProviderRegistry", "setDefender", provider, keys["defender"].address)
    tools.send(owner, "StakeVault", "requestUnbond", provider, WEI_PER_SWM)
    arguments = _provider_arguments(provider, node.address, stranger)
    arguments |= _job_arguments(tools, keys, provider)
    arguments["SlashingCourt", "answer"] = (_bonded_case(tools, keys["accuser"], provider), bytes(32), "ipfs://answer")
    arguments |= _court_arguments(tools, keys)
    return AccessWorld(tools=tools, keys=keys, arguments=arguments)


def _provider_arguments(
    provider: ProviderId, node: Address, stranger: Address
) -> dict[tuple[str, str], tuple[object, ...]]:
    amount, some = WEI_PER_SWM, bytes(31) + b"\1"
    return {
        ("ProviderRegistry", "addNode"): (provider, stranger, NEVER, bytes(65)),
        ("ProviderRegistry", "removeNode"): (provider, node),
        ("ProviderRegistry", "announceMaintenance"): (provider, node, NEVER, NEVER),
        ("ProviderRegistry", "withdrawMaintenance"): (provider, node),
        ("ProviderRegistry", "setOperator"): (provider, stranger),
        ("ProviderRegistry", "setPayout"): (provider, stranger),
        ("ProviderRegistry", "setDefender"): (provider, stranger),
        ("ProviderRegistry", "retire"): (provider,),
        ("StakeVault", "stake"): (provider, amount),
        ("StakeVault", "stakeWithPermit"): (provider, amount, NEVER, 27, some, some),
        ("StakeVault", "requestUnbond"): (provider, amount),
        ("StakeVault", "cancelUnbond"): (provider, 0),
        ("EpochOracle", "vote"): (0, some),
        ("EpochOracle", "setReporter"): (stranger,),
        ("ChallengeBeacon", "commitSecret"): (1, some),
        ("ChallengeBeacon", "open"): (1, some),
        ("ChallengeBeacon", "close"): (1, some, 1),
    }


def _job_arguments(
    tools: ChainTools, keys: Mapping[str, KeySigner], provider: ProviderId
) -> dict[tuple[str, str], tuple[object, ...]]:
    customer, node = keys["customer"], keys["node"]
    budget, spec = 2 * WEI_PER_SWM, bytes(31) + b"\1"
    tools.send(customer, "SwarmToken", "approve", tools.address("JobEscrow"), 2 * budget)
    for _ in range(2):
        tools.send(customer, "JobEscrow", "post", 1, spec, budget, 600, 600)
    tools.send(node, "JobEscrow", "accept", 2, provider, node.address)
    return {
        ("JobEscrow", "accept"): (1, provider, node.address),
        ("JobEscrow", "complete"): (2, spec),
        ("JobEscrow", "cancel"): (1,),
    }


def _bonded_case(tools: ChainTools, accuser: KeySigner, provider: ProviderId) -> Hash32:
    violation = Violation(
        provider_id=provider,
        violation_class=ViolationClass.PERFORMANCE,
        severity=Severity.PENALTY,
        epoch=EpochNumber(0),
        offence_at=Timestamp(tools.reader.block("latest").timestamp),
        amount_wei=Wei(WEI_PER_SWM),
        suspended_for=60,
        evidence_hash=keccak(b"evidence"),
    )
    tools.send(accuser, "SwarmToken", "approve", tools.address("SlashingCourt"), 1_000 * WEI_PER_SWM)
    tools.send(accuser, "SlashingCourt", "openWithBond", astuple(violation))
    return case_id(violation)


def _court_arguments(tools: ChainTools, keys: Mapping[str, KeySigner]) -> dict[tuple[str, str], tuple[object, ...]]:
    """Three rows of one commitment: one accused, one answered, one picked."""
    accuser, node = keys["accuser"], keys["node"]
    challenge = ComputeChallenge(
        window=drawn_window(tools, keys["member"], 7), node=node.address, device=0, shape=SHAPE
    )
    provers = [honest_prover(challenge, row) for row in range(3)]
    signed = provers[0].signed(node)
    tools.send(accuser, "SwarmToken", "approve", tools.address("ComputeCourt"), 10_000 * WEI_PER_SWM)
    accused, answered, picked = (_accuse(tools, accuser, signed, row) for row in range(3))
    for case, prover in ((answered, provers[1]), (picked, provers[2])):
        tools.send(node, "ComputeCourt", "answer", *_answer(case, prover))
    pick = (picked, 0, _step(provers[2], 0), _step(provers[2], 0))
    tools.send(accuser, "ComputeCourt", "pick", *pick)
    return {
        ("ComputeCourt", "answer"): _answer(accused, provers[0]),
        ("ComputeCourt", "pick"): (answered, 0, _step(provers[1], 0), _step(provers[1], 0)),
        ("ComputeCourt", "reveal"): (picked, provers[2].trace.states[0]),
    }


def _accuse(tools: ChainTools, accuser: KeySigner, signed: SignedCommitment, row: int) -> Hash32:
    commitment = signed.commitment
    offence = offence_id(commitment.window_id, commitment.node, commitment.device)
    case = accusation_id(offence, commitment_hash(commitment), row, accuser.address)
    for call in (seal_call(seal_hash(accuser.address, case, SALT)), accuse_call(signed, row, SALT)):
        tools.send(accuser, call.contract, call.function, *call.args)
        tools.net.mine()  # a seal is opened in a later block
    return case


def _answer(case: Hash32, prover: Prover) -> tuple[object, ...]:
    evidence = prover.evidence
    hashes = list(prover.trace.hashes)
    call = court_call(
        "answer", case, commitment_args(prover.commitment), hashes, prover.trace.head, list(evidence.path)
    )
    return call.args


def _step(prover: Prover, number: int) -> dict[str, object]:
    hashes = prover.trace.hashes
    return {"hash": hashes[number], "path": list(path(step_tree(hashes), number))}
