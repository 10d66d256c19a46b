"""Accounts and waiting transactions of a FakeChain, by the rules of a node."""

from collections.abc import Iterator

from swarm_chain.core.encoding import to_hex
from swarm_chain.core.errors import RejectedError
from swarm_chain.core.model import SignedTx, TxOutcome
from swarm_chain.core.units import Address, Hash32, Wei


class Mempool:
    """Balances, nonces, what waits and what became of it."""

    def __init__(self, balance_wei: int) -> None:
        self._start_wei = balance_wei
        self._balances: dict[Address, int] = {}
        self._nonces: dict[Address, int] = {}
        self._waiting: dict[tuple[Address, int], SignedTx] = {}
        self._mined: dict[Hash32, tuple[TxOutcome, RejectedError | None]] = {}

    def balance(self, address: Address) -> Wei:
        """Native coin of an account, wei."""
        return Wei(self._balances.get(address, self._start_wei))

    def fund(self, address: Address, amount: Wei) -> None:
        """Sets an account's native coin."""
        self._balances[address] = amount

    def next_nonce(self, sender: Address) -> int:
        """Nonce after everything mined and waiting."""
        nonce = self._nonces.get(sender, 0)
        while (sender, nonce) in self._waiting:
            nonce += 1
        return nonce

    def take(self, tx: SignedTx) -> bool:
        """Takes a transaction; False if it is known already.

        Raises:
            RejectedError: "nonce_used", or "underpriced" when it does not raise the waiting one's fee by 10 %.
        """
        waiting = self._waiting.get((tx.sender, tx.nonce))
        if tx.hash in self._mined or (waiting is not None and waiting.hash == tx.hash):
            return False
        if tx.nonce < self._nonces.get(tx.sender, 0):
            raise _refused("nonce_used", tx, "another transaction of this key was mined first: look at it")
        if waiting is not None and tx.max_fee_wei * 10 < waiting.max_fee_wei * 11:
            raise _refused("underpriced", tx, "raise the fee by at least 12.5 %")
        self._waiting[tx.sender, tx.nonce] = tx
        return True

    def due(self) -> Iterator[SignedTx]:
        """Waiting transactions whose turn it is, in nonce order; those behind a gap stay."""
        for sender, nonce in sorted(self._waiting, key=lambda key: key[1]):
            if nonce == self._nonces.get(sender, 0):
                yield self._waiting.pop((sender, nonce))

    def note(self, tx: SignedTx, outcome: TxOutcome, reason: RejectedError | None) -> None:
        """Records a mined transaction, takes its fee and moves the nonce on."""
        self._mined[tx.hash] = (outcome, reason)
        self._nonces[tx.sender] = tx.nonce + 1
        self._balances[tx.sender] = self.balance(tx.sender) - outcome.fee_wei

    def find(self, tx_hash: Hash32) -> tuple[TxOutcome, RejectedError | None] | None:
        """Outcome and reason of a mined transaction."""
        return self._mined.get(tx_hash)


def _refused(code: str, tx: SignedTx, fix: str) -> RejectedError:
    message = f"the chain refused the transaction with nonce {tx.nonce}: {code}"
    return RejectedError(message, code=code, fix=fix, values={"hash": to_hex(tx.hash), "nonce": tx.nonce})
