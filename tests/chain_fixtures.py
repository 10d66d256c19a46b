"""A real chain for tests: one anvil with everything deployed a session, put back as it was after each test."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from swarm_chain.adapters.clock import SystemClock
from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.adapters.rpc import Web3Reader
from swarm_chain.adapters.sender import WaitPolicy, Web3Writer, send_and_wait
from swarm_chain.core.compute import ComputeWindow
from swarm_chain.core.encoding import keccak, to_hex
from swarm_chain.core.model import ContractCall, TxOutcome
from swarm_chain.core.signing import admission_hash, domain_separator
from swarm_chain.core.units import WEI_PER_SWM, Address, EpochNumber, Hash32, ProviderId, Wei, window_id
from swarm_chain.devnet import Devnet, start_devnet
from swarm_chain.params import load_params
from swarm_chain.ports import Signer
from swarm_chain.recursion import recursion_limit_kept

with recursion_limit_kept():
    # Before any test imports it by itself and so lifts the limit for all that follow.
    import eth_account  # noqa: F401 - only its import matters

CPU, REGION = 1, b"eu-west\0"
NEVER = 2**63


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainTools:
    """What tests do to a chain, in one line each."""

    net: Devnet
    reader: Web3Reader

    def call(self, contract: str, function: str, *args: object) -> object:
        """Result of a view at the latest block."""
        return self.reader.call(ContractCall(contract=contract, function=function, args=args))

    def send(self, signer: Signer, contract: str, function: str, *args: object) -> TxOutcome:
        """Outcome of a transaction that succeeded."""
        call = ContractCall(contract=contract, function=function, args=args)
        writer = Web3Writer(self.reader, signer)
        return send_and_wait(writer, call, SystemClock(), policy=WaitPolicy(timeout_ms=20_000, poll_ms=20))

    def fund(self, address: Address, swm: int = 100_000) -> None:
        """Gives an address coins for gas and whole SWM."""
        self.net.faucet(address, eth_wei=Wei(10**19), swm_wei=Wei(swm * WEI_PER_SWM))

    def register(self, owner: Signer, *nodes: Signer, stake_wei: int = 0) -> ProviderId:
        """Registers the owner's provider, funds and stakes it, and adds its nodes; gives its id."""
        self.fund(owner.address)
        self.send(owner, "ProviderRegistry", "register", owner.address, owner.address, CPU, REGION)
        found = self.call("ProviderRegistry", "providerIdOf", owner.address)
        assert isinstance(found, int)
        provider_id = ProviderId(found)
        if stake_wei:
            self.send(owner, "SwarmToken", "approve", self.address("StakeVault"), stake_wei)
            self.send(owner, "StakeVault", "stake", provider_id, stake_wei)
        for node in nodes:
            self.add_node(owner, provider_id, node)
        return provider_id

    def add_node(self, owner: Signer, provider_id: ProviderId, node: Signer) -> None:
        """Adds a node with its own signature."""
        nonce = self.call("ProviderRegistry", "nodeNonce", node.address)
        assert isinstance(nonce, int)
        domain = domain_separator(self.net.deployment.chain_id, self.address("ProviderRegistry"))
        signature = node.sign_typed(domain, admission_hash(provider_id, node.address, nonce, NEVER))
        self.send(owner, "ProviderRegistry", "addNode", provider_id, node.address, NEVER, signature)

    def address(self, contract: str) -> Address:
        """Address of a contract."""
        return self.net.deployment.contracts[contract]

    def impersonate(self, sender: Address, to: Address, data: bytes) -> bool:
        """Sends calldata from an account without a key, such as the timelock or a contract; whether the chain did it."""
        self.net.rpc.request("anvil_setBalance", [sender, hex(10**19)])
        self.net.rpc.request("anvil_impersonateAccount", [sender])
        request = {"from": sender, "to": to, "data": to_hex(data), "gas": hex(3_000_000)}
        sent, clock = self.net.rpc.request("eth_sendTransaction", [request]), SystemClock()
        deadline = clock.monotonic_ms() + 20_000
        # anvil answers when it has queued a transaction; whatever comes next must find it mined.
        while (receipt := self.net.rpc.request("eth_getTransactionReceipt", [sent])) is None:
            assert clock.monotonic_ms() < deadline, f"{sent} is not mined"
            clock.sleep(0.01)
        return bool(receipt["status"] == "0x1")


@pytest.fixture(scope="session")
def devnet_session() -> Iterator[Devnet]:
    """One anvil with the minimal preset deployed; a block for every transaction, time stands still otherwise."""
    with start_devnet(load_params("minimal")) as net:
        net.automine(True)
        yield net


@pytest.fixture
def chain(devnet_session: Devnet) -> Iterator[Devnet]:
    """The chain as it was right after deployment; whatever a test does is undone after it."""
    snapshot = devnet_session.rpc.request("evm_snapshot")
    yield devnet_session
    # A snapshot holds neither the mempool nor the way of mining.
    devnet_session.rpc.request("anvil_dropAllTransactions")
    devnet_session.automine(True)
    devnet_session.rpc.request("anvil_removeBlockTimestampInterval")
    devnet_session.rpc.request("evm_revert", [snapshot])


@pytest.fixture
def reader(chain: Devnet) -> Web3Reader:
    """ChainReader of the chain."""
    return Web3Reader(chain.rpc_url, chain.deployment)


@pytest.fixture
def tools(chain: Devnet, reader: Web3Reader) -> ChainTools:
    """Short hands for what tests do on the chain."""
    return ChainTools(net=chain, reader=reader)


@pytest.fixture
def owner(chain: Devnet) -> KeySigner:
    """Account with the initial supply, the guardian, veto and proposer roles."""
    return chain.accounts[0]


@pytest.fixture
def member(chain: Devnet) -> KeySigner:
    """The only oracle member of the minimal preset."""
    return chain.accounts[1]


def drawn_window(tools: ChainTools, member: KeySigner, index: int = 0) -> ComputeWindow:
    """Opens, closes and draws a window of the current epoch."""
    epoch = tools.call("EpochOracle", "currentEpoch")
    assert isinstance(epoch, int)
    number, secret = window_id(EpochNumber(epoch), index), keccak(b"secret")
    tools.send(member, "ChallengeBeacon", "commitSecret", number, keccak(secret))
    tools.net.mine()
    tools.send(member, "ChallengeBeacon", "open", number, secret)
    tools.send(member, "ChallengeBeacon", "close", number, keccak(b"commitments"), 1)
    tools.net.mine(4)
    tools.send(member, "ChallengeBeacon", "draw", number)
    record: Any = tools.call("ChallengeBeacon", "window", number)
    return ComputeWindow(
        chain_id=tools.net.deployment.chain_id,
        beacon=tools.address("ChallengeBeacon"),
        window_id=number,
        window_seed=Hash32(record["windowSeed"]),
    )
