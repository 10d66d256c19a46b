"""A committee in one process over one chain in memory: real keys, real HTTP applications, real stores, no sockets."""

import dataclasses
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from node.prove import final_heads
from node.wire import commitment_body, proof_body
from oracle.consensus.reporting import report_action
from oracle.consensus.views import Action, Wait
from oracle.judge.windows import commitments_root
from oracle.pipeline.actions import perform
from oracle.pipeline.exchange import Exchange
from oracle.pipeline.names import PUBLISHED, REPORT_HASH
from oracle.pipeline.own import cycle_view, own_view
from oracle.pipeline.peers import MAX_ANSWER_BYTES
from oracle.pipeline.ticks import ask_peer, catch_up, follow, plan_exchange
from oracle.store import documents
from swarm_chain.core.compute import ComputeChallenge, ComputeWindow
from swarm_chain.core.encoding import report_hash
from swarm_chain.core.errors import InvalidInputError, SwarmError, UnavailableError
from swarm_chain.core.model import Commitment, Report, SignedProof
from swarm_chain.core.rowchain import NumpyCompute
from swarm_chain.core.units import EpochNumber, Hash32, WindowId
from swarm_chain.testing import FakeSigner
from swarm_chain.testing.program import Log, Storage
from tests.member_world import ALICE, BOB, SHAPE, MemberWorld, seed_of

FINAL_AFTER = 6
REPORT_FIELDS = tuple(field.name for field in dataclasses.fields(Report))


@dataclass(slots=True, eq=False)
class AsgiPeer:
    """Another member's application, called in process; a test may take it down or change what it answers."""

    name: str
    world: MemberWorld
    down: bool = False
    forged: dict[str, bytes] = field(default_factory=dict)

    def get_bytes(self, path: str, most: int = MAX_ANSWER_BYTES) -> bytes:
        """Content at a path of its API."""
        content = self._answer("GET", path, None)
        if len(content) > most:
            raise UnavailableError("answers without end", code="peer_garbage")
        return content

    def post_bytes(self, path: str, body: dict[str, object]) -> bytes:
        """Answer to a JSON body."""
        return self._answer("POST", path, body)

    def _answer(self, method: str, path: str, body: dict[str, object] | None) -> bytes:
        if self.down:
            raise UnavailableError("down", code="peer_silent")
        if path in self.forged:
            return self.forged[path]
        response = self.world.client.request(method, path, json=body)
        if response.status_code >= 300:
            code = "unknown_document" if response.status_code == 404 else "peer_refused"
            raise InvalidInputError(response.text, code=code)
        return response.content


class CommitteeWorld:
    """Members that know each other; `windows`, nodes and the chain are moved by the test.

    Args:
        folder: where the databases are.
        count: members, at least one.
        quorum: votes a report needs.
    """

    def __init__(self, folder: Path, count: int, quorum: int) -> None:
        self.folder = folder
        self.worlds: list[MemberWorld] = []
        for number in range(count):
            place = folder / f"member {number}"
            place.mkdir()
            self.worlds.append(MemberWorld(place, self.worlds[0] if number else None, f"member {number}"))
        self.first = self.worlds[0]
        self.peers = [AsgiPeer(f"asgi://{number}", world) for number, world in enumerate(self.worlds)]
        for number in range(count):
            self.introduce(number)
        self._contracts()
        for world in self.worlds:
            self.first.chain.append(
                "EpochOracle", "MemberAdded", member=world.signer.address, members=count, quorum=quorum
            )
        self.first.chain.append("EpochOracle", "QuorumChanged", quorum=quorum)
        self.look()

    def forget(self, number: int) -> None:
        """Deletes a member's database; its home, and what it knows it signed, stay."""
        before = self.worlds[number]
        before.close_down()
        for path in before.folder.glob("oracle.db*"):
            path.unlink()
        beside = self.worlds[0] if number else self.worlds[1]
        self.worlds[number] = MemberWorld(before.folder, beside, f"member {number}")
        self.peers[number].world = self.worlds[number]
        self.introduce(number)

    def introduce(self, number: int) -> None:
        """Gives a member the URLs of the others."""
        world = self.worlds[number]
        others = tuple(peer for place, peer in enumerate(self.peers) if place != number)
        world.member = replace(world.member, exchange=Exchange(others, world.signer.address))

    def look(self, blocks: int = 1) -> None:
        """Mines blocks and lets every member look."""
        self.first.chain.mine(blocks=blocks)
        for world in self.worlds:
            follow(world.member)

    def open(self) -> WindowId:
        """Opens a window of the running epoch."""
        window = self.first.open()
        self.look()
        return window

    def commit(self, window: WindowId, key: FakeSigner = ALICE, to: tuple[int, ...] | None = None) -> Commitment:
        """Lets a node run honestly and commit, to all members or some."""
        made = self.first.commitment(window, node=key, heads=self.heads(window, key))
        body = commitment_body(self.first.commit(made, key=key))
        for number in self._numbers(to):
            answer = self.worlds[number].client.post("/v1/commitments", json=body)
            assert answer.status_code == 202, answer.text
        return made

    def draw(self, window: WindowId, commitments: tuple[Commitment, ...]) -> Hash32:
        """Closes a window over a root and draws its rows."""
        self.first.close(window, commitments_root(commitments))
        seed = self.first.draw(window)
        self.look()
        return seed

    def prove(
        self, commitment: Commitment, seed: Hash32, key: FakeSigner, to: tuple[int, ...] | None = None
    ) -> SignedProof:
        """Lets a node open its rows, to all members or some."""
        shown = self.first.show(self.first.proof(commitment, seed, self.heads(commitment.window_id, key)), key=key)
        for number in self._numbers(to):
            answer = self.worlds[number].client.post("/v1/proofs", json=proof_body(shown))
            assert answer.status_code == 202, answer.text
        return shown

    def heads(self, window: WindowId, key: FakeSigner) -> bytes:
        """What a node's device computes in a window."""
        asked = ComputeWindow(
            chain_id=self.first.network.chain_id,
            beacon=self.first.network.beacon,
            window_id=window,
            window_seed=seed_of(window),
        )
        return final_heads(ComputeChallenge(window=asked, node=key.address, device=0, shape=SHAPE), NumpyCompute())

    def play_epoch(self, to: tuple[int, ...] | None = None) -> EpochNumber:
        """One window in which alice and bob are honest, and the end of the epoch, final; gives the epoch."""
        epoch, window = self.first.epoch, self.open()
        made = [(key, self.commit(window, key, to)) for key in (ALICE, BOB)]
        self.gossip()
        seed = self.draw(window, tuple(commitment for _, commitment in made))
        for key, commitment in made:
            self.prove(commitment, seed, key, to)
        self.end_epoch()
        return epoch

    def end_epoch(self) -> None:
        """Lets the epoch end and makes that final."""
        self.first.chain.mine(seconds=self.first.network.params.epoch.epoch_for)
        self.look(blocks=FINAL_AFTER)

    def gossip(self, *numbers: int) -> None:
        """Every member (or some) asks every other one once."""
        for number in numbers or range(len(self.worlds)):
            member = self.worlds[number].member
            plan_exchange(member)
            for peer in member.exchange.peers:
                ask_peer(peer, member)

    def step(self, number: int) -> Action:
        """One member does what the cycle asks for the report; gives the action, performed unless it is to wait."""
        member = self.worlds[number].member
        follow(member)
        catch_up(member)
        sight = member.follower.sight
        action = report_action(cycle_view(member, sight), own_view(member, sight)) or Wait(reason="idle")
        if not isinstance(action, Wait):
            perform(member, sight, action)
        return action

    def settle(self, *numbers: int, rounds: int = 40) -> list[Action]:
        """Lets members talk and work in turns until there is nothing to report; gives all actions in order."""
        done: list[Action] = []
        for _ in range(rounds):
            self.gossip(*numbers)
            actions = [self._tolerant(number) for number in numbers or range(len(self.worlds))]
            done += [action for action in actions if not isinstance(action, Wait)]
            if all(action == Wait(reason="idle") for action in actions):
                break
            self.look(blocks=1 if any(not isinstance(action, Wait) for action in actions) else 3)
        return done

    def hash_of(self, number: int, epoch: EpochNumber) -> Hash32 | None:
        """Report hash a member stands behind."""
        kept = documents.document(self.worlds[number].engine, epoch, REPORT_HASH)
        return None if kept is None else Hash32(kept)

    def is_public(self, number: int, epoch: EpochNumber) -> bool:
        """Whether a member publishes an epoch."""
        return documents.document(self.worlds[number].engine, epoch, PUBLISHED) is not None

    def submissions(self) -> int:
        """Reports the chain accepted."""
        return len(self.first.chain.program.storage.get("processed", {}))

    def close_down(self) -> None:
        """Gives the databases back."""
        for world in self.worlds:
            world.close_down()

    def _tolerant(self, number: int) -> Action:
        try:
            return self.step(number)
        except SwarmError:
            return Wait(reason="refused")  # the log has it; the next round decides anew

    def _numbers(self, to: tuple[int, ...] | None) -> tuple[int, ...]:
        return tuple(range(len(self.worlds))) if to is None else to

    def _contracts(self) -> None:
        program = self.first.chain.program

        def vote(storage: Storage, sender: str, epoch: int, voted: bytes) -> list[Log]:
            votes: dict[Any, bytes] = storage.setdefault("votes", {})
            before = votes.get((epoch, sender))
            votes[epoch, sender] = voted
            count = sum(1 for key, one in votes.items() if key[0] == epoch and one == voted)
            withdrawn = {"epoch": epoch, "member": sender, "reportHash": before, "support": 0}
            logs: list[Log] = [("EpochOracle", "VoteWithdrawn", withdrawn)] if before else []
            cast = {"epoch": epoch, "member": sender, "reportHash": voted, "support": count}
            return [*logs, ("EpochOracle", "Voted", cast)]

        def submit(storage: Storage, sender: str, fields: tuple[Any, ...]) -> list[Log]:
            report = Report(**dict(zip(REPORT_FIELDS, fields, strict=True)))
            hashed = report_hash(report)
            storage.setdefault("processed", {})[report.epoch] = hashed
            index = len(storage["processed"]) - 1
            accepted = {
                "rootIndex": index,
                "epoch": report.epoch,
                "root": report.root,
                "leafCount": report.leaf_count,
                "totalReward": report.total_reward_wei,
                "totalPenalty": report.total_penalty_wei,
                "outcomesRoot": report.outcomes_root,
                "manifestHash": report.manifest_hash,
                "activatesAt": 2**40,
            }
            submitted = {"epoch": report.epoch, "reportHash": hashed, "submitter": sender, "rootIndex": index}
            return [("RewardSettlement", "ReportAccepted", accepted), ("EpochOracle", "ReportSubmitted", submitted)]

        program.action("EpochOracle", "vote", vote)
        program.action("EpochOracle", "submitReport", submit)
        program.view(
            "EpochOracle", "processedHash", lambda storage, epoch: storage.get("processed", {}).get(epoch, bytes(32))
        )
