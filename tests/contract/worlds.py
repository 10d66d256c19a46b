"""The same little world on the fake and on a real chain: a token, and an account that holds ten of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from swarm_chain.adapters.clock import SystemClock
from swarm_chain.adapters.connection import connect_chain
from swarm_chain.adapters.transaction import FeePolicy
from swarm_chain.core.model import ContractCall, TxOutcome
from swarm_chain.core.units import Address, Hash32, Wei
from swarm_chain.ports import ChainReader, ChainWriter, Clock, Signer
from swarm_chain.testing import FakeChain, FakeClock, FakeSigner, reject
from swarm_chain.testing.program import Log, Storage
from tests.chain_fixtures import ChainTools

TEN = 10 * 10**18
COIN = Wei(10**18)


@dataclass(frozen=True, kw_only=True)
class World:
    """A chain behind its ports, and how to make it mine or wait."""

    reader: ChainReader
    writer_with_cap: Callable[[Signer, Wei], ChainWriter]
    automine: Callable[[bool], None]
    mine: Callable[[int], object]
    fund: Callable[[Address, Wei], None]
    clock: Clock
    alice: FakeSigner = field(default_factory=lambda: FakeSigner("alice"))
    bob: FakeSigner = field(default_factory=lambda: FakeSigner("bob"))

    def writer(self, signer: Signer | None = None) -> ChainWriter:
        """Alice's writer, or another one's, with an ample cap."""
        return self.writer_with_cap(signer or self.alice, Wei(500 * 10**9))

    def transfer(self, amount: int) -> ContractCall:
        """Transfer of tokens to bob."""
        return ContractCall(contract="SwarmToken", function="transfer", args=(self.bob.address, amount))

    def balance_of(self, signer: Signer) -> ContractCall:
        """Token balance of somebody."""
        return ContractCall(contract="SwarmToken", function="balanceOf", args=(signer.address,))


def mined(writer: ChainWriter, tx_hash: Hash32) -> TxOutcome:
    """Outcome of a transaction under automine, which anvil does a moment after it has answered."""
    for _ in range(500):
        outcome = writer.outcome(tx_hash)
        if outcome is not None:
            return outcome
        SystemClock().sleep(0.01)
    raise AssertionError(f"0x{tx_hash.hex()} was not mined in five seconds")


def fake_world() -> World:
    """The world in memory."""
    chain = FakeChain()
    chain.program.view("SwarmToken", "balanceOf", lambda storage, account: storage.get(account, 0))
    chain.program.action("SwarmToken", "transfer", _transfer)
    world = World(
        reader=chain,
        writer_with_cap=chain.writer,
        automine=lambda enabled: setattr(chain, "automine", enabled),
        mine=chain.mine,
        fund=chain.pool.fund,
        clock=FakeClock(),
    )
    chain.program.storage[world.alice.address] = TEN
    chain.mine(6)
    return world


def real_world(tools: ChainTools, endpoints: int = 1) -> World:
    """The world on anvil, through one endpoint or through several that must agree."""
    net = tools.net
    urls = [net.rpc_url, net.rpc_url.replace("127.0.0.1", "localhost"), net.rpc_url.replace("127.0.0.1", "127.1")]
    connection = connect_chain(urls[:endpoints], net.deployment)

    def automine(enabled: bool) -> None:
        # Interval mining would make the order of a test a matter of luck: without automine nothing is mined but by hand.
        net.rpc.request("evm_setAutomine", [enabled])
        net.rpc.request("evm_setIntervalMining", [0])

    world = World(
        reader=connection.reader,
        writer_with_cap=lambda signer, cap: connection.writer(signer, policy=FeePolicy(max_fee_wei=cap)),
        automine=automine,
        mine=net.mine,
        fund=lambda address, amount: net.rpc.request("anvil_setBalance", [address, hex(amount)]),
        clock=SystemClock(),
    )
    net.faucet(world.alice.address, eth_wei=COIN, swm_wei=Wei(TEN))
    return world


def _transfer(storage: Storage, sender: Address, to: Address, amount: int) -> Sequence[Log]:
    have = storage.get(sender, 0)
    if have < amount:
        raise reject("ERC20InsufficientBalance", sender=sender, balance=have, needed=amount)
    storage[sender] = have - amount
    storage[to] = storage.get(to, 0) + amount
    return [("SwarmToken", "Transfer", {"from": sender, "to": to, "value": amount})]
