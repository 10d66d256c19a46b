"""Transactions of one key: simulate, price, sign, send, and tell a mined no from a missing answer.

prepare --SignedTx--> (caller stores it) --broadcast--> mempool --outcome--> TxOutcome | None
                              ^---------- bump ----------'
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from swarm_chain.adapters.contracts import CONSTRUCTOR, encode_call
from swarm_chain.adapters.rpc import RpcFault, Web3Reader
from swarm_chain.adapters.transaction import (
    REFUSAL_FIXES,
    FeePolicy,
    TxFields,
    parse_fields,
    raised,
    refusal_code,
)
from swarm_chain.core.encoding import keccak, to_hex
from swarm_chain.core.errors import InvalidInputError, RejectedError, UnavailableError
from swarm_chain.core.model import ContractCall, SignedTx, TxOutcome
from swarm_chain.core.units import BlockNumber, Hash32, Timestamp, Wei
from swarm_chain.ports import ChainWriter, Clock, Signer


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitPolicy:
    """How long `send_and_wait` waits, milliseconds: in all, between two looks, and before it raises the fee."""

    timeout_ms: int = 120_000
    poll_ms: int = 500
    bump_after_ms: int = 30_000


class Web3Writer:
    """ChainWriter of one key over JSON-RPC. It remembers nothing: what it needs again stands in the SignedTx.

    Args:
        reader: endpoints and deployment.
        signer: the key that pays and signs.
        policy: fee and gas limits.
    """

    def __init__(self, reader: Web3Reader, signer: Signer, *, policy: FeePolicy | None = None) -> None:
        self._reader = reader
        self._rpc = reader.rpc
        self._signer = signer
        self._policy = policy or FeePolicy()

    def prepare(self, call: ContractCall) -> SignedTx:
        """Simulates, estimates, takes the next nonce and signs.

        Raises:
            RejectedError: the call would revert (decoded), or the account cannot pay (code "insufficient_funds").
            UnavailableError: the base fee is above the cap (code "fee_above_cap"), or no endpoint answers.
        """
        return self.sign(self.draft(call), call)

    def draft(self, call: ContractCall) -> TxFields:
        """What `prepare` would sign; raises what it raises."""
        to = None if call.function == CONSTRUCTOR else self._reader.address_of(call.contract)
        data = encode_call(call)
        gas = self._estimate(_request(self._signer.address, to, data))
        max_fee, priority = self._fees()
        self._check_funds(gas, max_fee)
        nonce = int(self._rpc.request("eth_getTransactionCount", [self._signer.address, "pending"]), 16)
        return TxFields(
            chain_id=self._reader.deployment.chain_id,
            nonce=nonce,
            gas=gas,
            max_fee_wei=max_fee,
            priority_wei=priority,
            to=to,
            data=data,
        )

    def sign(self, fields: TxFields, call: ContractCall) -> SignedTx:
        """Signs a draft."""
        raw = self._signer.sign_transaction(fields.as_dict())
        return SignedTx(
            hash=keccak(raw),
            raw=raw,
            sender=self._signer.address,
            nonce=fields.nonce,
            max_fee_wei=fields.max_fee_wei,
            call=call,
        )

    def broadcast(self, tx: SignedTx) -> None:
        """Sends a signed transaction; one that is already known or mined counts as sent.

        Raises:
            RejectedError: another transaction used the nonce ("nonce_used"), the fee is too low to replace the waiting
                one ("underpriced"), or the account cannot pay ("insufficient_funds").
        """
        answer = self._rpc.ask("eth_sendRawTransaction", [to_hex(tx.raw)])
        if not isinstance(answer, RpcFault):
            return
        code = refusal_code(answer.message)
        if code == "already_known" or (code == "nonce_used" and self._is_known(tx.hash)):
            return
        if code is None:
            raise answer.as_error()
        raise RejectedError(
            f"the chain refused the transaction with nonce {tx.nonce}: {answer.message}",
            code=code,
            fix=REFUSAL_FIXES[code],
            values={"hash": to_hex(tx.hash), "nonce": tx.nonce},
        )

    def bump(self, tx: SignedTx) -> SignedTx:
        """Same nonce and call with both fees raised by 12.5 %; InvalidInputError (code "fee_cap") at the fee cap."""
        fields = parse_fields(tx.raw)
        max_fee, cap = raised(fields.max_fee_wei), self._policy.max_fee_wei
        if max_fee > cap:
            raise InvalidInputError(
                f"a replacement needs {max_fee} wei per gas, the cap is {cap}",
                code="fee_cap",
                fix="wait, or raise --max-fee",
                values={"want": str(max_fee), "cap": str(cap)},
            )
        return self.sign(replace(fields, max_fee_wei=max_fee, priority_wei=raised(fields.priority_wei)), tx.call)

    def outcome(self, tx_hash: Hash32) -> TxOutcome | None:
        """Outcome once mined, None while unknown; never guesses failure."""
        receipt = self._rpc.request("eth_getTransactionReceipt", [to_hex(tx_hash)])
        if receipt is None or receipt.get("blockNumber") is None:
            return None
        gas_used = int(receipt["gasUsed"], 16)
        return TxOutcome(
            hash=tx_hash,
            succeeded=int(receipt["status"], 16) == 1,
            block=BlockNumber(int(receipt["blockNumber"], 16)),
            gas_used=gas_used,
            fee_wei=Wei(gas_used * int(receipt["effectiveGasPrice"], 16)),
            events=self._reader.decoder.decode(receipt["logs"], self._timestamp),
        )

    def why_reverted(self, tx: SignedTx, outcome: TxOutcome) -> RejectedError:
        """Decoded reason of a reverted transaction, from a replay on the block before its own."""
        fields = parse_fields(tx.raw)
        if outcome.gas_used >= fields.gas:
            error = RejectedError(
                "out of gas", code="out_of_gas", fix="send it again: the state it met needed more gas"
            )
        else:
            # Another transaction of its block may have come first: then only the state after the block says no.
            error = (
                self._replay(tx, fields, outcome.block - 1) or self._replay(tx, fields, outcome.block) or _unexplained()
            )
        facts = {"hash": to_hex(tx.hash), "block": outcome.block}
        message = f"transaction reverted in block {outcome.block}: {error.message}"
        return RejectedError(message, code=error.code, fix=error.fix, values=error.values | facts)

    def _replay(self, tx: SignedTx, fields: TxFields, block: int) -> RejectedError | None:
        request = _request(tx.sender, fields.to, fields.data) | {"gas": hex(fields.gas)}
        answer = self._rpc.ask("eth_call", [request, hex(block)])
        error = answer.as_error() if isinstance(answer, RpcFault) else None
        return error if isinstance(error, RejectedError) else None

    def _estimate(self, request: Mapping[str, str]) -> int:
        """Gas limit: a fifth above the estimate, at most the policy's ceiling."""
        # The call comes first: some endpoints hide the revert data of an estimate.
        self._rpc.request("eth_call", [request, "latest"])
        estimate = int(self._rpc.request("eth_estimateGas", [request, "latest"]), 16)
        if estimate > self._policy.max_gas:
            raise RejectedError(
                f"the transaction needs {estimate} gas, the limit is {self._policy.max_gas}",
                code="gas_above_limit",
                fix="split it into smaller transactions",
                values={"want": estimate, "limit": self._policy.max_gas},
            )
        return min(estimate * 12 // 10, self._policy.max_gas)

    def _fees(self) -> tuple[Wei, Wei]:
        """Largest fee and tip per gas: two base fees, so that the transaction survives six full blocks."""
        head = self._rpc.request("eth_getBlockByNumber", ["latest", False])
        base, cap, tip = int(head["baseFeePerGas"], 16), self._policy.max_fee_wei, self._policy.priority_wei
        if base >= cap:
            raise UnavailableError(
                f"the chain asks {base} wei per gas, the cap is {cap}",
                code="fee_above_cap",
                fix="wait until fees fall, or raise --max-fee",
                retry_after=60,
            )
        return Wei(min(2 * base + tip, cap)), Wei(min(tip, cap - base))

    def _check_funds(self, gas: int, max_fee: int) -> None:
        account = self._signer.address
        have, want = self._reader.balance(account), gas * max_fee
        if have < want:
            raise RejectedError(
                f"{account} has {have} wei, the transaction may cost {want}",
                code="insufficient_funds",
                fix=f"send at least {want - have} wei of the native coin to {account}",
                values={"have": str(have), "want": str(want), "address": account},
            )

    def _is_known(self, tx_hash: Hash32) -> bool:
        return self._rpc.request("eth_getTransactionByHash", [to_hex(tx_hash)]) is not None

    def _timestamp(self, number: int) -> Timestamp:
        return self._reader.block(number).timestamp


def send_and_wait(
    writer: ChainWriter,
    call: ContractCall,
    clock: Clock,
    *,
    store: Callable[[SignedTx], None] | None = None,
    policy: WaitPolicy | None = None,
) -> TxOutcome:
    """Send one call and wait for the chain's word on it, raising the fee when it is stuck.

    Args:
        writer: the key's transactions.
        call: what to send.
        clock: time.
        store: called with every signed transaction before its first broadcast.
        policy: times to wait.

    Returns:
        The outcome of a transaction that succeeded.

    Raises:
        RejectedError: it would revert, or it was mined and reverted (decoded).
        UnavailableError: no word in time (code "outcome_unknown", exit 7): it may still be mined, so look the hash up.
    """
    policy, started = policy or WaitPolicy(), clock.monotonic_ms()
    sent = [_launch(writer, writer.prepare(call), store)]
    bump_at = started + policy.bump_after_ms
    while clock.monotonic_ms() - started < policy.timeout_ms:
        for tx in sent:
            outcome = _look(writer, tx)
            if outcome is not None and outcome.succeeded:
                return outcome
            if outcome is not None:
                raise writer.why_reverted(tx, outcome)
        clock.sleep(policy.poll_ms / 1000)
        if clock.monotonic_ms() >= bump_at:
            bump_at = clock.monotonic_ms() + policy.bump_after_ms
            sent += _replace(writer, sent[-1], store)
    raise _no_word(sent)


def _launch(writer: ChainWriter, tx: SignedTx, store: Callable[[SignedTx], None] | None) -> SignedTx:
    if store is not None:
        store(tx)
    try:
        writer.broadcast(tx)
    except UnavailableError:
        # The endpoint may have taken it before it went away: from here on only the chain's word counts.
        return tx
    return tx


def _look(writer: ChainWriter, tx: SignedTx) -> TxOutcome | None:
    try:
        return writer.outcome(tx.hash)
    except UnavailableError:
        return None


def _replace(writer: ChainWriter, tx: SignedTx, store: Callable[[SignedTx], None] | None) -> list[SignedTx]:
    """The replacement as a list; at the fee cap the same transaction goes out once more and the list is empty."""
    try:
        return [_launch(writer, writer.bump(tx), store)]
    except InvalidInputError:
        _launch(writer, tx, None)
    except RejectedError as error:
        # "nonce_used": one of ours was mined while we raised the fee; the next look finds it.
        if error.code not in {"nonce_used", "underpriced"}:
            raise
    return []


def _request(sender: str, to: str | None, data: bytes) -> dict[str, str]:
    request = {"from": sender, "data": to_hex(data)}
    return request if to is None else request | {"to": to}


def _no_word(sent: Sequence[SignedTx]) -> UnavailableError:
    hashes = [to_hex(tx.hash) for tx in sent]
    return UnavailableError(
        f"no word from the chain on {hashes[-1]} yet: it may still be mined",
        code="outcome_unknown",
        fix=f"look up {', '.join(hashes)} before sending again",
        exit_code=7,
    )


def _unexplained() -> RejectedError:
    return RejectedError(
        "a replay before and after its block does not revert",
        code="reverted",
        fix="look at the state again and send again if it is still wanted",
    )
