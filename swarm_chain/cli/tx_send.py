"""`swarm tx`: transactions that were signed elsewhere."""

from pathlib import Path
from typing import Annotated

import typer

from swarm_chain.adapters.clock import SystemClock
from swarm_chain.adapters.transaction import TxFields, parse_fields
from swarm_chain.cli.amounts import format_eth
from swarm_chain.cli.context import Session, session_of
from swarm_chain.cli.output import facts
from swarm_chain.cli.shared import TransactionCommand
from swarm_chain.cli.signed_files import read_raw
from swarm_chain.cli.tx import DEFAULT_TIMEOUT_S, AskingSigner, announce
from swarm_chain.cli.views import transaction_document
from swarm_chain.core.encoding import checksum_address, keccak, to_hex
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.model import ContractCall, SignedTx, TxOutcome
from swarm_chain.core.units import Address, Wei

app = typer.Typer(help="Transactions signed elsewhere.")
POLL_S = 0.5


@app.callback()
def transactions() -> None:
    """Transactions signed elsewhere."""


@app.command(cls=TransactionCommand)
def send(ctx: typer.Context, file: Annotated[Path, typer.Argument(help="Signed transaction.")]) -> None:
    """Sends a signed transaction and waits for its receipt; sending it twice is harmless."""
    session = session_of(ctx)
    tx, fields = _signed(read_raw(file))
    if fields.chain_id != session.deployment.chain_id:
        raise InvalidInputError(
            f"wrong chain: it was signed for chain {fields.chain_id}, the deployment is on {session.deployment.chain_id}",
            fix="choose the --deployment and --rpc-url of its chain",
            code="wrong_chain",
            exit_code=3,
        )
    cost = Wei(fields.gas * fields.max_fee_wei)
    session.output.note(f"transaction of {tx.sender} to {fields.to}\n  costs at most {format_eth(cost)}")
    session.output.confirm("Send it?")
    outcome = _sent(session, tx)
    document = transaction_document(outcome)
    session.output.show(document, facts("mined", {"hash": to_hex(outcome.hash), "block": outcome.block}))


def _signed(raw: bytes) -> tuple[SignedTx, TxFields]:
    from eth_account import Account
    from rlp.exceptions import RLPException

    try:
        fields = parse_fields(raw)
        sender = Account.recover_transaction(raw)
    except (RLPException, IndexError, KeyError, TypeError, ValueError) as error:
        raise InvalidInputError(
            "that is no signed EIP-1559 transaction", fix="sign it again", code="bad_file"
        ) from error
    to = fields.to or checksum_address(bytes(20))
    tx = SignedTx(
        hash=keccak(raw),
        raw=raw,
        sender=Address(sender),
        nonce=fields.nonce,
        max_fee_wei=fields.max_fee_wei,
        call=ContractCall(contract=to, function="unknown"),
    )
    return tx, fields


def _sent(session: Session, tx: SignedTx) -> TxOutcome:
    clock = SystemClock()
    writer = session.chain.writer(AskingSigner(tx.sender, None, lambda _: None, None))
    announce(session, tx)
    writer.broadcast(tx)
    until = clock.monotonic_ms() + 1000 * int(session.options.get("timeout") or DEFAULT_TIMEOUT_S)
    while clock.monotonic_ms() < until:
        outcome = writer.outcome(tx.hash)
        if outcome is not None and not outcome.succeeded:
            raise writer.why_reverted(tx, outcome)
        if outcome is not None:
            return outcome
        clock.sleep(POLL_S)
    raise UnavailableError(
        f"no word from the chain on {to_hex(tx.hash)} yet",
        fix="send it again to go on waiting",
        code="timed_out",
        exit_code=7,
    )
