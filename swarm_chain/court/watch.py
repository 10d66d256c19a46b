"""The watcher: finds what is false in an epoch's evidence, seals and opens accusations, and plays them to their end.

evidence --examine--> findings --charges--> seal -> (next block) -> approve the bond -> accuse -> follow: pick, prove, timeout

It remembers nothing but the salts of its seals: findings are recomputed and the rest stands on chain, so a watcher that was
killed anywhere goes on where it was.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from swarm_chain.core.encoding import keccak, to_hex, words
from swarm_chain.core.errors import RejectedError
from swarm_chain.core.kinds import AccusationState
from swarm_chain.core.signing import commitment_hash
from swarm_chain.core.units import ZERO_ADDRESS, Address, Hash32, Wei, format_swm
from swarm_chain.core.verdicts import SignedVerdicts
from swarm_chain.court.calls import approve_call, seal_call
from swarm_chain.court.charges import Charge, SaltStore
from swarm_chain.court.desk import CourtDesk
from swarm_chain.court.documents import EpochEvidence
from swarm_chain.court.evidence import (
    Suspect,
    accusable,
    false_rows,
    is_true,
    offence_is_over,
    owned_by,
    passed_proof,
    provider_of,
    unaccused,
)
from swarm_chain.court.model import Accusation, CourtView, Side
from swarm_chain.court.play import CourtEvent, OpeningsOf, Send, accusers_evidence, play
from swarm_chain.court.recompute import Progress, Recomputer

# The chain's answer to an accusation in the block of its own seal.
TOO_FRESH = "SealTooFresh"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A commitment with rows to accuse, and the verdicts of members that may have passed it. `second` makes an equivocation."""

    suspect: Suspect
    rows: tuple[int, ...]
    verdicts: tuple[SignedVerdicts, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchLimits:
    """What a watcher may do. `unopened_rows` rows of a commitment whose root is false are accused blindly, at the bond's risk."""

    max_bond_wei: Wei
    unopened_rows: int = 0


class Watcher:
    """Accuses for one key.

    Args:
        accuser: address of the key.
        desk: reads of the chain.
        salts: salts of the seals.
        recomputer: computes rows.
        limits: what it may risk.
    """

    def __init__(
        self, accuser: Address, desk: CourtDesk, salts: SaltStore, recomputer: Recomputer, limits: WatchLimits
    ) -> None:
        self._accuser, self._desk, self._salts = accuser, desk, salts
        self._recomputer, self._limits = recomputer, limits
        self._findings: dict[Hash32, Finding] = {}
        self._pairs: dict[Hash32, Charge] = {}

    def examine(
        self,
        evidence: EpochEvidence,
        verdicts: Sequence[SignedVerdicts] = (),
        progress: Progress = lambda _done, _total: None,
    ) -> Iterator[CourtEvent]:
        """Recompute what an epoch's nodes opened and keep what is false.

        Args:
            evidence: signed by the nodes.
            verdicts: members' verdicts of the same epoch, checked.
            progress: told while a whole commitment is recomputed.

        Returns:
            An iterator of one event per false commitment.
        """
        view = self._desk.look()
        for first, second in evidence.equivocations:
            charge = Charge(signed=first, accuser=self._accuser, second=second)
            if accusable(first, (), view, self._desk.deployment, self._desk.accuse_for) and _at_odds(charge):
                self._pairs[charge.subject] = charge
                yield CourtEvent(name="equivocation_found", text=f"found {charge.name}")
        for signed in evidence.commitments:
            openings = evidence.openings(signed.commitment)
            suspect = accusable(signed, openings, view, self._desk.deployment, self._desk.accuse_for)
            rows = self._rows(suspect, progress) if suspect else ()
            if suspect and rows:
                finding = Finding(suspect=suspect, rows=rows, verdicts=tuple(verdicts))
                self._findings[commitment_hash(signed.commitment)] = finding
                yield _found(finding)

    def charges(self, view: CourtView) -> tuple[Charge, ...]:
        """What this key should accuse of now: one charge per offence that is neither over nor accused by itself already."""
        wanted = [charge for finding in self._findings.values() for charge in self._against(finding, view)]
        pairs = [pair for pair in self._pairs.values() if not offence_is_over(pair.signed.commitment, view)]
        return (*pairs, *wanted)

    def press(self, charge: Charge, view: CourtView, send: Send) -> CourtEvent | None:
        """Bring a charge one step further: its seal, or from the next block on the accusation.

        Returns:
            What happened; None where the seal has to wait for a block.

        Raises:
            RejectedError: the chain says no.
        """
        sealed, salt = self._salts.seal_of(self._accuser, charge.subject)
        bond = self._bond(charge, view)
        if bond is None:
            return _event("no_stake", f"no provider answers for {charge.name}", charge)
        if bond > self._limits.max_bond_wei:
            return _event(
                "bond_above_limit", f"the bond is {format_swm(bond)} SWM now, too much for {charge.name}", charge
            )
        if not self._desk.is_sealed(sealed):
            send(seal_call(sealed), f"seal an accusation of {charge.name}")
            return _event("sealed", f"sealed an accusation of {charge.name}", charge)
        try:
            self._accuse(charge, salt, bond, send)
        except RejectedError as error:
            if error.code != TOO_FRESH:
                raise
            return None
        return _event("accused", f"accused {charge.name}", charge, bondWei=bond)

    def advance(self, view: CourtView, send: Send) -> Iterator[CourtEvent]:
        """Bring every charge one step further; what the chain refuses is told and left for the next time."""
        for charge in self.charges(view):
            try:
                event = self.press(charge, view, send)
            except RejectedError as error:
                event = _event("refused", f"{charge.name}: {error.message}", charge, code=error.code)
            if event is not None:
                yield event

    def follow(self, view: CourtView, openings: OpeningsOf, send: Send) -> Iterator[CourtEvent]:
        """Make the moves this key owes in the accusations it opened, and execute what anybody has proven.

        A cheater that proves its own lie first, so that no one else can, would otherwise keep its stake in dispute for ever.

        Args:
            view: the chain now.
            openings: what is known to be opened of a commitment.
            send: sends a call.
        """
        mine = [
            found
            for found in view.accusations.values()
            if found.accuser == self._accuser or found.state is AccusationState.PROVEN
        ]
        evidence = accusers_evidence(self._recomputer, self._desk.deployment, openings)
        return play(mine, Side.ACCUSER, view, evidence, send)

    def _accuse(self, charge: Charge, salt: Hash32, bond: Wei, send: Send) -> None:
        if self._desk.allowance_of(self._accuser) < bond:
            send(approve_call(self._desk.address, bond), f"let the court take a bond of {format_swm(bond)} SWM")
        send(charge.call(salt), f"accuse {charge.name} with a bond of {format_swm(bond)} SWM")

    def _rows(self, suspect: Suspect, progress: Progress) -> tuple[int, ...]:
        rows = false_rows(suspect, self._recomputer)
        if rows or not self._limits.unopened_rows or is_true(suspect, self._recomputer, progress):
            return rows
        # Somewhere the commitment is false, but only opened rows say where: the rest is a bet, the same after a restart.
        _, salt = self._salts.seal_of(self._accuser, commitment_hash(suspect.commitment))
        shown = {opening.row for opening in suspect.openings}
        hidden = [row for row in range(suspect.commitment.m) if row not in shown]
        return tuple(sorted(hidden, key=lambda row: keccak(words(salt, row)))[: self._limits.unopened_rows])

    def _against(self, finding: Finding, view: CourtView) -> Iterator[Charge]:
        suspect = finding.suspect
        if view.now > suspect.window.closed_at + self._desk.accuse_for:
            return
        if self._is_free(suspect, ZERO_ADDRESS, view):
            free = unaccused(suspect.commitment, finding.rows, view, self._accuser)
            charges = (Charge(signed=suspect.signed, accuser=self._accuser, row=row) for row in free)
            yield from islice(charges, 1)
        for verdicts in finding.verdicts:
            if self._is_free(suspect, verdicts.verdicts.member, view):
                yield from islice(self._against_member(finding, verdicts, view), 1)

    def _against_member(self, finding: Finding, verdicts: SignedVerdicts, view: CourtView) -> Iterator[Charge]:
        suspect, member = finding.suspect, verdicts.verdicts.member
        shown = {opening.row for opening in suspect.openings}
        rows = [row for row in finding.rows if row in shown]  # the member may have seen a true head of any other
        for row in unaccused(suspect.commitment, rows, view, self._accuser, member):
            passed = passed_proof(suspect, row, verdicts)
            if passed is not None:
                yield Charge(signed=suspect.signed, accuser=self._accuser, row=row, passed=passed)

    def _is_free(self, suspect: Suspect, member: Address, view: CourtView) -> bool:
        if offence_is_over(suspect.commitment, view, member):
            return False
        return not any(self._is_mine(found, suspect, member) for found in view.accusations.values())

    def _is_mine(self, accusation: Accusation, suspect: Suspect, member: Address) -> bool:
        same = accusation.commitment == suspect.commitment and accusation.member == member
        return same and accusation.is_open and accusation.accuser == self._accuser

    def _bond(self, charge: Charge, view: CourtView) -> Wei | None:
        if charge.second is not None:
            return Wei(0)
        node = charge.signed.commitment.node
        provider_id = owned_by(charge.member, view) if charge.passed else provider_of(node, view)
        return None if provider_id is None else self._desk.bond_of(provider_id)


def _at_odds(charge: Charge) -> bool:
    first, second = charge.signed.commitment, charge.second.commitment if charge.second else None
    if second is None or first == second:
        return False
    same = (second.window_id, second.window_seed, second.node, second.device)
    return (first.window_id, first.window_seed, first.node, first.device) == same


def _found(finding: Finding) -> CourtEvent:
    c = finding.suspect.commitment
    shown = {opening.row for opening in finding.suspect.openings}
    opened = [row for row in finding.rows if row in shown]
    what = f"rows {', '.join(map(str, opened))} are false" if opened else "its root is false, no opened row is"
    return CourtEvent(
        name="false_commitment",
        text=f"commitment of node {c.node}, device {c.device}, in window {c.window_id}: {what}",
        values={"windowId": c.window_id, "node": c.node, "device": c.device, "falseRows": opened},
    )


def _event(name: str, text: str, charge: Charge, **more: object) -> CourtEvent:
    c = charge.signed.commitment
    known = {"subject": to_hex(charge.subject), "windowId": c.window_id, "node": c.node, "device": c.device}
    return CourtEvent(name=name, text=text, values=known | {"row": charge.row, "member": charge.member} | more)
