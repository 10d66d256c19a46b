"""A chain in memory that keeps the rules of a real one: blocks, logs, nonces, fees, replacement, decoded refusals."""

from copy import deepcopy
from dataclasses import dataclass, replace

from swarm_chain.abi import CONTRACTS
from swarm_chain.core.encoding import checksum_address, keccak, to_hex, words
from swarm_chain.core.errors import InvalidInputError, RejectedError, UnavailableError
from swarm_chain.core.model import BlockRef, ChainEvent, ContractCall, Deployment, SignedTx, TxOutcome
from swarm_chain.core.units import ZERO_HASH, Address, BlockNumber, Hash32, Timestamp, Wei
from swarm_chain.ports import Signer
from swarm_chain.testing.fakes import START
from swarm_chain.testing.mempool import Mempool
from swarm_chain.testing.program import FakeProgram, Log, Storage, make_events

GAS = 100_000
BASE_FEE_WEI = 10**9
MAX_FEE_WEI = 3 * BASE_FEE_WEI
CAP_WEI = Wei(500 * 10**9)
FINAL_AFTER = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    ref: BlockRef
    events: tuple[ChainEvent, ...]
    storage: Storage


class FakeChain:
    """ChainReader in memory; `writer(signer)` is a ChainWriter on it.

    Set `available` to False to take every endpoint down, `automine` to False to leave transactions waiting until `mine`.

    Args:
        chain_id: EIP-155 chain id.
        now: timestamp of block 0.
        balance_wei: native coin every account starts with.
    """

    def __init__(self, chain_id: int = 31_337, now: Timestamp = START, balance_wei: int = 10**18) -> None:
        contracts = {name: checksum_address(keccak(name.encode())[12:]) for name in CONTRACTS}
        self.deployment = Deployment(chain_id=chain_id, block=BlockNumber(0), params="minimal", contracts=contracts)
        self.program = FakeProgram()
        self.pool = Mempool(balance_wei)
        self.available = True
        self.automine = True
        self._logs: list[Log] = []
        self._calls: dict[Hash32, ContractCall] = {}
        self._blocks = [_Block(ref=_ref(0, now), events=(), storage={})]

    def chain_id(self) -> int:
        """Chain id of the endpoint."""
        self._require_available()
        return self.deployment.chain_id

    def block(self, which: "int | str | Hash32") -> BlockRef:
        """Block by number, hash or tag; finality is four blocks behind, as on the development chain."""
        self._require_available()
        head = len(self._blocks) - 1
        tags = {"latest": head, "finalized": max(0, head - FINAL_AFTER), "earliest": 0}
        if isinstance(which, str):
            if which not in tags:
                raise InvalidInputError(f"{which!r} names no block", fix=f"use a number, a hash or one of {[*tags]}")
            which = tags[which]
        found = [b.ref for b in self._blocks if which in (b.ref.number, b.ref.hash)]
        if not found:
            shown = to_hex(which) if isinstance(which, bytes) else which
            raise InvalidInputError(f"the chain has no block {shown}", code="unknown_block")
        return found[0]

    def events(self, first: int, last: int) -> tuple[ChainEvent, ...]:
        """All events in blocks [first, last], in chain order."""
        if last < first:
            return ()
        self.block(last)
        return tuple(event for block in self._blocks[max(first, 0) : last + 1] for event in block.events)

    def call(self, call: ContractCall, at: BlockRef | None = None) -> object:
        """Answer of a registered view over the storage as it was at a block."""
        self._require_available()
        storage = self.program.storage if at is None else self._blocks[self.block(at.hash).number].storage
        return self.program.read(call, storage)

    def balance(self, address: Address) -> Wei:
        """Native balance, wei."""
        self._require_available()
        return self.pool.balance(address)

    def append(self, contract: str, event: str, **args: object) -> None:
        """Puts a log into the next block, as if some transaction had written it."""
        make_events(self._blocks[-1].ref, 0, [(contract, event, args)], ZERO_HASH)
        self._logs.append((contract, event, args))

    def mine(self, blocks: int = 1, seconds: int = 1) -> BlockRef:
        """Mines blocks `seconds` apart; the first one takes the waiting logs and transactions."""
        for _ in range(blocks):
            head = self._blocks[-1].ref
            ref = _ref(head.number + 1, Timestamp(head.timestamp + seconds))
            events = [*make_events(ref, 0, self._logs, ZERO_HASH)]
            self._logs = []
            for tx in self.pool.due():
                events += self._execute(tx, ref, len(events))
            self._blocks.append(_Block(ref=ref, events=tuple(events), storage=deepcopy(self.program.storage)))
        return self._blocks[-1].ref

    def writer(self, signer: Signer, max_fee_wei: Wei = CAP_WEI) -> "FakeWriter":
        """ChainWriter of a key; `max_fee_wei` per gas is its hard cap."""
        return FakeWriter(self, signer, max_fee_wei)

    def note_signed(self, tx: SignedTx) -> SignedTx:
        """Remembers the call of a transaction, whose raw bytes hold only its hash here."""
        self._calls[tx.hash] = tx.call
        return tx

    def as_signed(self, tx: SignedTx) -> SignedTx:
        """A transaction with the call it was signed with: a real chain reads it from the raw bytes."""
        return replace(tx, call=self._calls.get(tx.hash, tx.call))

    def _execute(self, tx: SignedTx, ref: BlockRef, first_index: int) -> tuple[ChainEvent, ...]:
        try:
            events = make_events(ref, first_index, self.program.execute(tx), tx.hash)
        except RejectedError as reason:
            self.pool.note(tx, _outcome(tx, ref, None), reason)
            return ()
        self.pool.note(tx, _outcome(tx, ref, events), None)
        return events

    def _require_available(self) -> None:
        if not self.available:
            raise UnavailableError("no RPC endpoint answers: FakeChain", code="rpc_unavailable", fix="set available")


class FakeWriter:
    """ChainWriter on a FakeChain; transactions carry real signatures and cost `GAS` gas."""

    def __init__(self, chain: FakeChain, signer: Signer, cap_wei: Wei) -> None:
        self._chain = chain
        self._signer = signer
        self._cap_wei = cap_wei

    def prepare(self, call: ContractCall) -> SignedTx:
        """Simulates, takes the next nonce and signs; RejectedError if it would revert or cannot be paid."""
        have, want = self._chain.balance(self._signer.address), GAS * MAX_FEE_WEI
        self._chain.program.simulate(call, self._signer.address)
        if have < want:
            raise RejectedError(
                f"{self._signer.address} has {have} wei, the transaction may cost {want}",
                code="insufficient_funds",
                fix=f"send at least {want - have} wei of the native coin to {self._signer.address}",
                values={"have": str(have), "want": str(want), "address": self._signer.address},
            )
        return self._sign(call, self._chain.pool.next_nonce(self._signer.address), Wei(MAX_FEE_WEI))

    def broadcast(self, tx: SignedTx) -> None:
        """Sends a signed transaction; one that is already known counts as sent."""
        self._chain.chain_id()
        if self._chain.pool.take(self._chain.as_signed(tx)) and self._chain.automine:
            self._chain.mine()

    def bump(self, tx: SignedTx) -> SignedTx:
        """Same nonce and call with the fee raised by 12.5 %; InvalidInputError (code "fee_cap") at the cap."""
        fee = (tx.max_fee_wei * 9 + 7) // 8
        if fee > self._cap_wei:
            raise InvalidInputError(
                f"a replacement needs {fee} wei per gas, the cap is {self._cap_wei}",
                code="fee_cap",
                fix="wait, or raise --max-fee",
                values={"want": str(fee), "cap": str(self._cap_wei)},
            )
        return self._sign(self._chain.as_signed(tx).call, tx.nonce, Wei(fee))

    def outcome(self, tx_hash: Hash32) -> TxOutcome | None:
        """Outcome once mined, None while unknown."""
        self._chain.chain_id()
        found = self._chain.pool.find(tx_hash)
        return None if found is None else found[0]

    def why_reverted(self, tx: SignedTx, outcome: TxOutcome) -> RejectedError:
        """Reason of a reverted transaction."""
        found = self._chain.pool.find(tx.hash)
        reason = found[1] if found else None
        if reason is None:
            raise InvalidInputError(f"{to_hex(tx.hash)} did not revert")
        message = f"transaction reverted in block {outcome.block}: {reason.message}"
        facts = {"hash": to_hex(tx.hash), "block": outcome.block}
        return RejectedError(message, code=reason.code, fix=reason.fix, values=reason.values | facts)

    def _sign(self, call: ContractCall, nonce: int, max_fee: Wei) -> SignedTx:
        fields: dict[str, object] = {
            "type": 2,
            "chainId": self._chain.deployment.chain_id,
            "nonce": nonce,
            "gas": GAS,
            "maxFeePerGas": max_fee,
            "maxPriorityFeePerGas": BASE_FEE_WEI,
            "value": 0,
            "to": self._chain.deployment.contracts[call.contract],
            "data": keccak(repr(call).encode()),
        }
        raw, sender = self._signer.sign_transaction(fields), self._signer.address
        tx = SignedTx(hash=keccak(raw), raw=raw, sender=sender, nonce=nonce, max_fee_wei=max_fee, call=call)
        return self._chain.note_signed(tx)


def _ref(number: int, timestamp: Timestamp) -> BlockRef:
    return BlockRef(number=BlockNumber(number), hash=keccak(words(number, timestamp)), timestamp=timestamp)


def _outcome(tx: SignedTx, ref: BlockRef, events: tuple[ChainEvent, ...] | None) -> TxOutcome:
    fee = Wei(GAS * 2 * BASE_FEE_WEI)
    succeeded = events is not None
    return TxOutcome(
        hash=tx.hash, succeeded=succeeded, block=ref.number, gas_used=GAS, fee_wei=fee, events=events or ()
    )
