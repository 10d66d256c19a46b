"""Transactions of one key through several endpoints: drafted and looked up by agreement, sent to all of them.

draft at each endpoint --k-th highest nonce, gas and fee--> one signature --> broadcast to every endpoint
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from swarm_chain.adapters.answers import Answer, alike
from swarm_chain.adapters.panel import Panel, Quorum
from swarm_chain.adapters.sender import Web3Writer
from swarm_chain.adapters.transaction import TxFields
from swarm_chain.core.errors import RejectedError, UnavailableError
from swarm_chain.core.model import ContractCall, SignedTx, TxOutcome
from swarm_chain.core.units import Hash32, Wei


class QuorumWriter:
    """ChainWriter over several endpoints.

    Args:
        endpoints: one writer of the same key per endpoint, by its redacted name.
        quorum: how many must agree; a majority if not said.

    Raises:
        InvalidInputError: no endpoint, or not as many as must agree (exit 3).
    """

    def __init__(self, endpoints: Mapping[str, Web3Writer], quorum: Quorum | None = None) -> None:
        self._panel = Panel(endpoints, quorum or Quorum())
        self._local = next(iter(endpoints.values()))  # signs; what it does without its endpoint is the same for all

    def prepare(self, call: ContractCall) -> SignedTx:
        """Simulates and estimates at every endpoint and signs once; no minority moves nonce, gas or fee past the others'.

        Raises:
            RejectedError: k endpoints say that the call would revert, or that the account cannot pay.
            UnavailableError: fewer than k answer, or the fee is above the cap at k of them (code "fee_above_cap").
            InconsistentError: k answer, but neither do k draft it nor k refuse it alike.
        """
        drafts = self._panel.several(f"draft {call.contract}.{call.function}", lambda writer: writer.draft(call))
        return self._local.sign(_combined(drafts, self._panel.agree), call)

    def broadcast(self, tx: SignedTx) -> None:
        """Sends a signed transaction to every endpoint; it is sent once one of them has it.

        Raises:
            RejectedError: k endpoints say that another transaction used the nonce ("nonce_used"), or nobody takes it and
                k refuse it alike.
            UnavailableError: nobody takes it, for different reasons.
        """
        answers = self._panel.gather(lambda writer: writer.broadcast(tx), self._is_settled)
        refusal = _refused_alike(answers, self._panel.agree)
        took = any(answer.error is None for answer in answers)
        if refusal is not None and (refusal.code == "nonce_used" or not took):
            raise refusal
        self._panel.report("broadcast", [answer for answer in answers if not answer.spoke])
        if not took:
            said = "; ".join(f"{answer.endpoint} ({answer.reason})" for answer in answers)
            raise UnavailableError(f"no RPC endpoint took the transaction with nonce {tx.nonce}: {said}", retry_after=1)

    def bump(self, tx: SignedTx) -> SignedTx:
        """Same nonce and call with both fees raised by 12.5 %; InvalidInputError (code "fee_cap") at the fee cap."""
        return self._local.bump(tx)

    def outcome(self, tx_hash: Hash32) -> TxOutcome | None:
        """Outcome that k endpoints report alike; None while no k do, so that no minority can fake it or hide it."""
        answers = self._panel.gather(
            lambda writer: writer.outcome(tx_hash), lambda found: len(alike(found)) >= self._panel.agree
        )
        winners = alike(answers)
        if len(winners) >= self._panel.agree:
            # An endpoint without the receipt may just not have it yet.
            others = [answer for answer in answers if answer not in winners]
            self._panel.report("outcome", [answer for answer in others if answer.value or answer.error])
            if winners[0].error is not None:
                raise winners[0].error
            return winners[0].value
        if sum(answer.error is None for answer in answers) >= self._panel.agree:
            return None  # right after it was mined some endpoints have not seen it yet
        raise self._panel.refusal("outcome", answers)

    def why_reverted(self, tx: SignedTx, outcome: TxOutcome) -> RejectedError:
        """Decoded reason of a reverted transaction, as k endpoints replay it."""

        def reason(writer: Web3Writer) -> RejectedError:
            raise writer.why_reverted(tx, outcome)

        try:
            return self._panel.agreed("why_reverted", reason)
        except RejectedError as error:
            return error

    def _is_settled(self, found: Sequence[Answer[object]]) -> bool:
        took = any(answer.error is None for answer in found)
        return took or _refused_alike(found, self._panel.agree) is not None


def _combined(drafts: Sequence[TxFields], agree: int) -> TxFields:
    """The draft with the k-th highest of every number: k endpoints ask for at least as much."""

    def rank(numbers: Sequence[int]) -> int:
        return sorted(numbers)[-agree]

    max_fee = rank([draft.max_fee_wei for draft in drafts])
    return replace(
        drafts[0],
        nonce=rank([draft.nonce for draft in drafts]),
        gas=rank([draft.gas for draft in drafts]),
        max_fee_wei=Wei(max_fee),
        priority_wei=Wei(min(max_fee, rank([draft.priority_wei for draft in drafts]))),
    )


def _refused_alike(answers: Sequence[Answer[object]], agree: int) -> RejectedError | None:
    refusals = [answer.error for answer in answers if isinstance(answer.error, RejectedError)]
    codes = [error.code for error in refusals]
    return next((error for error in refusals if codes.count(error.code) >= agree), None)
