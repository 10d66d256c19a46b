"""Disputes on a real chain, played by `swarm court` on one side or on both."""

import json
import signal
import subprocess
from dataclasses import replace
from itertools import product

import pytest

from node.prove import restore_run
from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.core.compute import commitment_leaf, digest, draw_rows
from swarm_chain.core.court import step_tree
from swarm_chain.core.encoding import hash_from_hex, keccak, to_hex
from swarm_chain.core.errors import RejectedError
from swarm_chain.core.kinds import AccusationState
from swarm_chain.core.merkle import build_tree, path
from swarm_chain.core.model import ChainEvent, Opening, Proof, SignedCommitment, SignedProof
from swarm_chain.core.signing import commitment_hash, domain_separator
from swarm_chain.core.units import EpochNumber, Hash32, Signature
from swarm_chain.core.verdicts import PassedVerdicts, SignedVerdicts, passed_root, signed_verdicts_json, verdicts_hash
from swarm_chain.court.calls import accuse_call, court_call
from swarm_chain.court.model import RowEvidence
from tests.chain_fixtures import ChainTools, drawn_window
from tests.court_world import Prover, honest_prover, lying_prover, other_root, true_trace
from tests.integration.cli.conftest import CommandLine, Shelf
from tests.integration.cli.courtroom import (
    ANSWER_FOR,
    BOND,
    BOUNTY,
    MOVE_FOR,
    ROW,
    SHAPE,
    SLASH,
    STAKE,
    Courtroom,
)

T = SHAPE.steps


@pytest.fixture
def room(connected: CommandLine, tools: ChainTools, shelf: Shelf, member: KeySigner, alice: KeySigner) -> Courtroom:
    """Mallory's provider with one node in a drawn window; alice has SWM and no part in it."""
    mallory, node = connected.add_key("mallory", keccak(b"mallory")), connected.add_key("node", keccak(b"node"))
    tools.fund(alice.address)
    provider_id = tools.register(mallory, node, stake_wei=STAKE)
    tools.fund(node.address)
    return Courtroom(
        tools=tools,
        line=connected,
        shelf=shelf,
        owner=mallory,
        node=node,
        provider_id=provider_id,
        window=drawn_window(tools, member),
    )


@pytest.mark.parametrize("at", [0, 2, T])
def test_a_liar_that_answers_and_reveals_loses_by_proof(room: Courtroom, alice: KeySigner, at: int) -> None:
    liar, before = lying_prover(room.challenge, ROW, at), room.swm(alice)
    room.publish_prover(liar, 1, ROW, 9)

    assert room.watch() == ["false_commitment", "sealed"]
    assert room.watch() == ["false_commitment", "accused"]
    room.play_liar(liar.evidence)
    assert room.watch() == ["false_commitment", "pick"]
    assert room.accusation.step == at
    room.play_liar(liar.evidence)
    assert room.watch() == ["false_commitment", "prove"]
    assert (room.accusation.state, room.stake) == (AccusationState.PROVEN, STAKE)
    assert room.watch() == ["false_commitment", "execute"]

    assert room.accusation.state is AccusationState.CONVICTED
    assert room.stake == STAKE - SLASH
    assert (room.swm(alice), room.bounty(alice)) == (before, BOUNTY)
    assert room.watch() == ["false_commitment"]
    claims = [room.court("claim")["claimedWei"], room.court("claim")["claimedWei"]]
    assert claims == [str(BOUNTY), "0"]
    assert room.swm(alice) == before + BOUNTY


@pytest.mark.parametrize("answers", [False, True])
def test_a_liar_that_falls_silent_loses_by_timeout(room: Courtroom, alice: KeySigner, answers: bool) -> None:
    liar, before = lying_prover(room.challenge, ROW, 2), room.swm(alice)
    room.publish_prover(liar, ROW)
    room.watch()
    room.watch()
    if answers:
        room.play_liar(liar.evidence)
        room.watch()

    early = room.watch()
    room.tools.net.warp((MOVE_FOR if answers else ANSWER_FOR) + 1)

    assert early == ["false_commitment"]
    assert room.watch()[-1] == "timeout"
    assert (room.stake, room.swm(alice), room.bounty(alice)) == (STAKE - SLASH, before, BOUNTY)


def test_a_liar_with_hashes_it_cannot_open_loses_by_timeout(room: Courtroom) -> None:
    liar = lying_prover(room.challenge, ROW, T)
    room.publish_prover(liar, ROW)
    room.watch()
    room.watch()
    # True hashes to the last: what they open at step T does not start with the committed head.
    disguised = replace(liar.trace, states=(*true_trace(room.challenge, ROW).states[:T], liar.trace.states[T]))
    room.play_liar(RowEvidence(trace=disguised, path=liar.evidence.path))

    assert room.watch()[-1] == "pick"
    assert room.accusation.step == T
    room.tools.net.warp(MOVE_FOR + 1)
    assert room.watch()[-1] == "timeout"


@pytest.mark.parametrize("opened", [(), (ROW,)])
@pytest.mark.parametrize("account", ["mallory", "node"])
def test_an_honest_node_wins_the_bond_of_a_wrong_accusation(
    room: Courtroom, alice: KeySigner, opened: tuple[int, ...], account: str
) -> None:
    room.publish_prover(honest_prover(room.challenge, ROW), *opened)
    payout = room.swm(room.owner)

    made = room.court("accuse", *_what(room), "--row", ROW, "--even-if-true")
    moves = [room.defend(account)]
    given_up = room.court("answer", made["accusationId"], code=2)
    room.tools.net.warp(MOVE_FOR + 1)
    moves.append(room.defend(account))

    assert moves == [["answer"], ["timeout"]]
    assert given_up["error"] == "give_up"
    assert room.accusation.state is AccusationState.ACQUITTED
    assert (room.stake, room.swm(room.owner)) == (STAKE, payout + BOND)


def test_an_accuser_that_picks_a_true_step_proves_nothing(room: Courtroom, alice: KeySigner) -> None:
    room.publish_prover(honest_prover(room.challenge, ROW))
    room.court("accuse", *_what(room), "--row", ROW, "--even-if-true")
    room.defend("mallory")
    hashes = room.accusation.hashes
    tree = step_tree(hashes)
    shown = [{"hash": hashes[at], "path": list(path(tree, at))} for at in (1, 2)]
    room.send(alice, court_call("pick", room.accusation.accusation_id, 2, *shown))

    assert room.defend("mallory") == ["reveal"]
    assert room.watch() == ["give_up"]
    room.tools.net.warp(MOVE_FOR + 1)
    assert room.defend("mallory") == ["timeout"]
    assert room.accusation.state is AccusationState.ACQUITTED


def test_a_true_row_is_not_accused_by_mistake(room: Courtroom) -> None:
    room.publish_prover(honest_prover(room.challenge, ROW), 1, ROW)

    refused = [
        room.court("accuse", *_what(room), code=2),
        room.court("accuse", *_what(room), "--row", ROW, code=2),
        room.court("accuse", *_what(room), "--row", 40, code=2),
    ]

    assert [answer["error"] for answer in refused] == ["nothing_to_accuse", "row_is_true", "row_is_true"]
    assert room.watch("--rows", 8) == []
    assert not room.view.accusations


def test_a_row_nobody_opened_can_be_bet_on_where_the_root_is_false(room: Courtroom) -> None:
    liar = lying_prover(room.challenge, ROW, 2)
    room.publish_prover(liar, 1, 9)

    blind = room.watch("--dry-run")
    deep = room.watch("--dry-run", "--rows", 3)
    made = room.court("accuse", *_what(room), "--row", ROW)

    assert (blind, deep) == ([], ["false_commitment", "would_accuse"])
    assert (made["row"], made["move"], made["turn"]) == (ROW, "answer", "accused")


def test_a_watcher_killed_between_seal_and_accusation_goes_on(room: Courtroom, tools: ChainTools) -> None:
    room.publish_prover(lying_prover(room.challenge, ROW, 2), ROW)

    room.watch()
    salts = sorted((room.line.home / "court").rglob("0x*-*"))
    room.watch()

    assert len(_seals(tools)) == len(salts) == 1
    assert sorted((room.line.home / "court").rglob("0x*-*")) == salts
    assert room.accusation.state is AccusationState.ACCUSED


def test_an_interrupted_accuse_needs_no_second_seal(room: Courtroom, alice: KeySigner) -> None:
    liar = lying_prover(room.challenge, ROW, 2)
    room.publish_prover(liar, ROW)

    poor = room.court("accuse", *_what(room), "--max-bond", 1, code=2)
    made = room.court("accuse", *_what(room))
    again = room.court("accuse", *_what(room), code=2)

    assert poor["error"] == "bond_above_limit"
    assert made["row"] == ROW
    assert again["error"] == "nothing_to_accuse"


def test_a_copycat_gets_nothing(room: Courtroom, alice: KeySigner, tools: ChainTools) -> None:
    liar, copycat = lying_prover(room.challenge, ROW, 2), tools.net.accounts[6]
    tools.fund(copycat.address)
    tools.send(copycat, "SwarmToken", "approve", tools.address("ComputeCourt"), BOND)
    room.publish_prover(liar, ROW)
    room.watch()
    (sealed,) = (event.args["sealHash"] for event in _seals(tools))
    (salt_file,) = (room.line.home / "court").rglob("0x*-*")
    salt = hash_from_hex(salt_file.read_text(encoding="utf-8").strip())

    tools.send(copycat, "ComputeCourt", "seal", sealed)
    copied = accuse_call(liar.signed(room.node), ROW, salt)
    with pytest.raises(RejectedError) as refused:
        room.send(copycat, copied)

    assert refused.value.code == "NotSealed"
    assert room.watch()[-1] == "accused"
    assert room.accusation.accuser == alice.address


def test_a_second_accusation_of_a_convicted_offence_is_dismissed(
    room: Courtroom, alice: KeySigner, tools: ChainTools
) -> None:
    liar = lying_prover(room.challenge, ROW, 2)
    bob = room.line.add_key("bob", keccak(b"bob"))
    tools.fund(bob.address)
    room.publish_prover(liar, ROW)
    before = room.swm(bob)
    room.watch()
    room.watch()
    second = room.court("accuse", *_what(room), account="bob")
    tools.net.warp(ANSWER_FOR + 1)
    room.watch()

    dismissed = room.court("answer", second["accusationId"], account="bob")

    assert (second["bondWei"], dismissed["state"]) == (str(2 * BOND), "dismissed")
    assert room.swm(bob) == before
    assert room.stake == STAKE - SLASH


@pytest.mark.parametrize("by", ["the watcher", "a stranger"])
def test_a_cheater_that_proves_its_own_lie_and_stops_there_is_executed_by_others(
    room: Courtroom, tools: ChainTools, by: str
) -> None:
    liar = lying_prover(room.challenge, ROW, 2)
    bob = room.line.add_key("bob", keccak(b"bob"))
    tools.fund(bob.address)
    room.publish_prover(liar, ROW)
    own = room.court("accuse", *_what(room), account="bob")["accusationId"]
    for _ in range(2):
        room.play_liar(liar.evidence)
        room.court("answer", own, account="bob")
    assert room.accusation.state is AccusationState.PROVEN
    tools.net.warp(ANSWER_FOR + MOVE_FOR + 1)

    made = room.watch() if by == "the watcher" else [room.court("answer", own)["moved"]]

    assert made[-1] == "execute"
    assert (room.accusation.state, room.stake) == (AccusationState.CONVICTED, STAKE - SLASH)


def test_two_commitments_of_one_device_are_shown(room: Courtroom, alice: KeySigner) -> None:
    first, before = honest_prover(room.challenge, ROW).signed(room.node), room.swm(alice)
    room.publish([first], [], [(first, other_root(first, room.challenge, room.node))])

    assert room.watch() == ["equivocation_found", "sealed"]
    room.tools.net.mine()
    assert room.watch() == ["equivocation_found", "accused"]

    assert (room.stake, room.swm(alice), room.bounty(alice)) == (STAKE - SLASH, before, BOUNTY)
    assert room.watch() == ["equivocation_found"]


def test_two_heads_of_one_row_are_shown(room: Courtroom) -> None:
    honest, lie = honest_prover(room.challenge, ROW), lying_prover(room.challenge, ROW, 2)
    heads = honest.run.heads
    leaves = [commitment_leaf(row, digest(heads[row * 64 : row * 64 + 64])) for row in range(SHAPE.m)]
    leaves[7] = commitment_leaf(ROW, digest(lie.trace.head))  # in the place of row 7: a second head of ROW
    tree = build_tree(leaves)
    forged = replace(honest, run=replace(restore_run(room.challenge, heads), tree=tree))
    opening = Opening(row=ROW, head=lie.trace.head, path=path(tree, 7))
    c = forged.commitment
    proof = Proof(window_id=c.window_id, node=c.node, device=c.device, root=c.root, openings=(opening,))
    room.publish([forged.signed(room.node)], [SignedProof(proof=proof, signature=Signature(bytes(65)))])
    room.watch()
    room.watch()

    room.play_liar(forged.evidence)  # the true head, from its own place

    assert [room.watch()[-1] for _ in range(2)] == ["contradict", "execute"]
    assert room.accusation.state is AccusationState.CONVICTED


def test_a_member_that_passed_a_false_row_falls_with_its_node(
    room: Courtroom, member: KeySigner, tools: ChainTools
) -> None:
    row, signed, liar = _drawn_lie(room)
    judge = tools.register(member, stake_wei=STAKE)
    room.publish([signed], [liar.openings(row)])
    _publish_verdicts(room, member, commitment_hash(signed.commitment))

    seen = [room.watch(), room.watch()]
    tools.net.warp(ANSWER_FOR + 1)
    seen.append(room.watch())

    assert seen[0] == ["false_commitment", "sealed", "sealed"]
    assert seen[1] == ["false_commitment", "accused", "accused"]
    assert seen[2] == ["false_commitment", "timeout", "timeout"]
    accused = {found.provider_id: found.state for found in room.view.accusations.values()}
    assert accused == {room.provider_id: AccusationState.CONVICTED, judge: AccusationState.CONVICTED}


def test_loops_play_a_dispute_to_its_end_and_stop_when_asked(room: Courtroom, alice: KeySigner) -> None:
    liar = lying_prover(room.challenge, ROW, 2)
    room.publish_prover(liar, ROW)
    shared = ("--yes", "--json", "--oracle-url", room.shelf.url, "court")
    backend = ("--poll", 1, "--backend", "numpy")

    with room.line.program("--account", "alice", *shared, "watch", *backend) as watcher:
        seen = _events(watcher, "accused")
        room.play_liar(liar.evidence)
        seen += _events(watcher, "pick")
        with room.line.program("--account", "mallory", *shared, "defend", *backend) as defender:
            # The honest program of a lying provider cannot open what she answered.
            told = _events(defender, "give_up")
            stopped = [_stopped(defender)]
        room.play_liar(liar.evidence)
        seen += _events(watcher, "execute")
        stopped.append(_stopped(watcher))

    assert seen == ["false_commitment", "sealed", "accused", "pick", "prove", "execute"]
    assert told == ["give_up"]
    assert stopped == [130, 130]
    assert room.stake == STAKE - SLASH


def test_status_tells_whose_move_it_is(room: Courtroom, alice: KeySigner) -> None:
    liar = lying_prover(room.challenge, ROW, 2)
    room.publish_prover(liar, ROW)
    room.watch()
    room.watch()

    (asked,) = room.court("status")["accusations"]
    room.play_liar(liar.evidence)
    (answered,) = room.court("status", "--provider", room.provider_id)["accusations"]
    table = room.line("court", "status").out

    assert (asked["state"], asked["turn"], asked["move"]) == ("accused", "accused", "answer")
    assert (answered["state"], answered["turn"], answered["move"]) == ("answered", "accuser", "pick")
    assert answered["accusationId"] == to_hex(room.accusation.accusation_id)
    assert answered["bondWei"] == str(BOND)
    assert "accuser: pick" in table


def test_who_has_no_part_is_told(room: Courtroom) -> None:
    room.publish_prover(lying_prover(room.challenge, ROW, 2), ROW)
    room.watch()
    room.watch()
    room.line.add_key("carol", keccak(b"carol"))
    known = to_hex(room.accusation.accusation_id)

    answers = {
        "may_not_defend": room.court("defend", "--once", account="carol", code=3),
        "no_part": room.court("answer", known, account="carol", code=3),
        "wait": room.court("answer", known, code=2),
        "give_up": room.court("answer", known, account="mallory", code=2),
        "unknown_accusation": room.court("answer", "0x" + "12" * 32, code=2),
        "unknown_commitment": room.court("accuse", "--node", room.owner.address, *_what(room)[2:], code=2),
    }

    assert {name: answer["error"] for name, answer in answers.items()} == {name: name for name in answers}
    assert all(answer["fix"] for answer in answers.values())


def _what(room: Courtroom) -> tuple[object, ...]:
    return ("--node", room.node.address, "--window", room.window.window_id)


def _events(program: "subprocess.Popen[str]", last: str) -> list[str]:
    """Names of the events a loop prints, up to and with the one that is waited for."""
    names: list[str] = []
    assert program.stdout is not None
    for line in program.stdout:
        names.append(json.loads(line)["event"])
        if names[-1] == last:
            return names
    raise AssertionError(f"the loop ended before {last!r}: {names}")


def _stopped(program: "subprocess.Popen[str]") -> int:
    """Exit code after Ctrl-C; what it still prints is read, or it would meet a closed pipe."""
    program.send_signal(signal.SIGINT)
    program.communicate(timeout=30)
    return program.returncode


def _seals(tools: ChainTools) -> list[ChainEvent]:
    return [event for event in tools.reader.events(0, tools.reader.block("latest").number) if event.name == "Sealed"]


def _drawn_lie(room: Courtroom) -> tuple[int, SignedCommitment, Prover]:
    """A commitment with a false row that is drawn.

    Which rows are drawn follows from the commitment: one lie in 32 is drawn, of all 4096 practically always one.
    """
    draw_seed = next(found for found in room.view.chain.windows if found.window_id == room.window.window_id).draw_seed
    for column, row in product(range(SHAPE.n), range(SHAPE.m)):
        liar = lying_prover(room.challenge, row, 2, column)
        if row in draw_rows(draw_seed, room.challenge, liar.commitment.root, 2):
            return row, liar.signed(room.node), liar
    raise AssertionError("no false row of this window is drawn")


def _publish_verdicts(room: Courtroom, member: KeySigner, *passed: Hash32) -> None:
    deployment, epoch = room.tools.net.deployment, EpochNumber(room.window.window_id >> 16)
    said = PassedVerdicts(epoch=epoch, member=member.address, draws=8, passed_root=passed_root(passed))
    domain = domain_separator(deployment.chain_id, deployment.contracts["ChallengeBeacon"])
    signed = SignedVerdicts(verdicts=said, passed=passed, signature=member.sign_typed(domain, verdicts_hash(said)))
    room.shelf.documents[f"/v1/epochs/{epoch}/verdicts"] = signed_verdicts_json(signed)
