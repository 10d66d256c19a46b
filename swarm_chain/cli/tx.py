"""Every transaction: show effect and highest cost, ask, send, print the hash at once, wait, tell the truth from the receipt."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import typer

from swarm_chain.adapters.clock import SystemClock
from swarm_chain.adapters.sender import WaitPolicy, send_and_wait
from swarm_chain.cli.amounts import format_eth, highest_cost, parse_amount
from swarm_chain.cli.context import Session
from swarm_chain.cli.keys import own_address
from swarm_chain.cli.output import facts, jsonable
from swarm_chain.cli.signed_files import UNSIGNED_FORMAT
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.model import ContractCall, SignedTx, TxOutcome
from swarm_chain.core.units import Address, Hash32, Signature, Wei
from swarm_chain.ports import Signer

DEFAULT_TIMEOUT_S = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """A transaction a person is about to send.

    `effect` says in words what it does; `typed` is what to type before something that cannot be undone.
    """

    call: ContractCall
    effect: str
    typed: str | None = None


class AskingSigner:
    """A signer that shows a transaction and asks before it signs it; fee bumps of the same one are not asked again.

    Args:
        address: sender.
        key: gives the key once it is needed; None writes the transaction down instead of signing it.
        approve: called with the transaction's fields before the first signature; raises to refuse.
        cap_wei: highest cost of any version, bumps included; None for no cap.
    """

    def __init__(
        self,
        address: Address,
        key: Callable[[], Signer] | None,
        approve: Callable[[dict[str, Any]], None],
        cap_wei: Wei | None,
    ) -> None:
        self._address, self._key, self._approve, self._cap_wei = address, key, approve, cap_wei
        self.fields: dict[str, Any] = {}

    @property
    def address(self) -> Address:
        """Sender."""
        return self._address

    def sign_typed(self, domain: Hash32, struct_hash: Hash32) -> Signature:
        """Signature of the key behind it."""
        return self._needed_key().sign_typed(domain, struct_hash)

    def sign_text(self, text: bytes) -> Signature:
        """Signature of the key behind it."""
        return self._needed_key().sign_text(text)

    def sign_transaction(self, fields: dict[str, object]) -> bytes:
        """Signs once approved and under the cap; without a key the fields are kept and nothing is signed."""
        cost = highest_cost(fields)
        if self._cap_wei is not None and cost > self._cap_wei:
            raise InvalidInputError(
                f"may cost {format_eth(cost)}, above the cap of {format_eth(self._cap_wei)}; nothing was sent",
                fix="raise --max-fee or wait for lower fees",
                code="above_max_fee",
                values={"maxCostWei": str(cost), "capWei": str(self._cap_wei)},
            )
        if not self.fields:
            self._approve(fields)
        self.fields = fields
        return b"" if self._key is None else self._key().sign_transaction(fields)

    def _needed_key(self) -> Signer:
        if self._key is None:
            raise InvalidInputError("this needs a signature that --unsigned cannot give", code="needs_key")
        return self._key()


def send(session: Session, intent: Intent) -> TxOutcome:
    """Sends one transaction as the shared options say.

    Returns:
        The outcome of a mined, successful transaction. With --dry-run, --no-wait or --unsigned the command ends here instead.

    Raises:
        RejectedError: it would revert, or did, or the key cannot pay for it.
        UnavailableError: not mined in time (exit 7); the hash is in its values.
    """
    options = session.options
    unsigned: Path | None = options.get("unsigned")
    address = own_address(session)
    keyless = unsigned is not None or bool(options.get("dry_run"))
    key = None if keyless else lambda: session.signer
    signer = AskingSigner(address, key, _approval(session, intent, address), _cap(options))
    writer = session.chain.writer(signer)
    if keyless:
        writer.prepare(intent.call)
        _end(session, _written(unsigned, signer, intent) if unsigned else _simulated(signer, intent))
    if options.get("no_wait"):
        tx = writer.prepare(intent.call)
        announce(session, tx)
        writer.broadcast(tx)
        _end(session, {"state": "sent", "effect": intent.effect, "hash": tx.hash})
    policy = WaitPolicy(timeout_ms=1000 * int(options.get("timeout") or DEFAULT_TIMEOUT_S))
    return send_and_wait(writer, intent.call, SystemClock(), store=lambda tx: announce(session, tx), policy=policy)


def announce(session: Session, tx: SignedTx) -> None:
    """Prints the hash before the transaction leaves, so that it is known whatever happens next."""
    session.sending.append(to_hex(tx.hash))
    session.output.note(f"sending {to_hex(tx.hash)}")


def _approval(session: Session, intent: Intent, address: Address) -> Callable[[dict[str, Any]], None]:
    def approve(fields: dict[str, Any]) -> None:
        cost = highest_cost(fields)
        session.output.note(f"{intent.effect}\n  costs at most {format_eth(cost)}, paid by {address}")
        if not (session.options.get("dry_run") or session.options.get("unsigned")):
            session.output.confirm("Go on?", typed=intent.typed)

    return approve


def _cap(options: dict[str, Any]) -> Wei | None:
    text = options.get("max_fee")
    return None if text is None else parse_amount(text)


def _simulated(signer: AskingSigner, intent: Intent) -> dict[str, object]:
    return {"state": "simulated", "effect": intent.effect, "maxCostWei": highest_cost(signer.fields)}


def _written(path: Path, signer: AskingSigner, intent: Intent) -> dict[str, object]:
    document = {
        "format": UNSIGNED_FORMAT,
        "effect": intent.effect,
        "from": signer.address,
        "transaction": jsonable(signer.fields),
    }
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return {"state": "unsigned", "effect": intent.effect, "file": str(path), "maxCostWei": highest_cost(signer.fields)}


def _end(session: Session, document: dict[str, object]) -> NoReturn:
    session.output.show(document, facts(str(document["state"]), _readable(document)))
    raise typer.Exit(0)


def _readable(document: dict[str, object]) -> dict[str, object]:
    texts: dict[str, object] = jsonable({key: value for key, value in document.items() if key != "state"})
    return texts
