"""A drawn window on a real chain, provers that answer it, and what an oracle member publishes of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.core.compute import ComputeChallenge, ComputeShape, ComputeWindow
from swarm_chain.core.model import ContractCall, SignedCommitment, SignedProof, TxOutcome
from swarm_chain.core.units import ProviderId
from swarm_chain.court.desk import CourtDesk
from swarm_chain.court.model import Accusation, CourtView, RowEvidence, Side
from swarm_chain.court.moves import next_move
from tests.chain_fixtures import ChainTools
from tests.court_world import Prover, bundle_document
from tests.integration.cli.conftest import CommandLine, Shelf

SHAPE = ComputeShape(m=64, n=64, steps=4)
ROW = 5
STAKE = 1000 * 10**18
BOND = 100 * 10**18  # minimal preset
SLASH, BOUNTY = STAKE // 2, STAKE // 2 * 3 // 10
ANSWER_FOR, MOVE_FOR = 120, 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Courtroom:
    """One window of one epoch, and the provider whose node is in question."""

    tools: ChainTools
    line: CommandLine
    shelf: Shelf
    owner: KeySigner
    node: KeySigner
    provider_id: ProviderId
    window: ComputeWindow

    @property
    def challenge(self) -> ComputeChallenge:
        """What the node was asked."""
        return ComputeChallenge(window=self.window, node=self.node.address, device=0, shape=SHAPE)

    @property
    def view(self) -> CourtView:
        """The chain now."""
        return CourtDesk(self.tools.reader, self.tools.net.deployment).look()

    @property
    def accusation(self) -> Accusation:
        """The only accusation there is."""
        (found,) = self.view.accusations.values()
        return found

    @property
    def stake(self) -> int:
        """Stake of the provider in question, wei."""
        found = self.tools.call("StakeVault", "activeStake", self.provider_id)
        assert isinstance(found, int)
        return found

    def publish(
        self,
        commitments: Sequence[SignedCommitment],
        proofs: Sequence[SignedProof] = (),
        pairs: Sequence[tuple[SignedCommitment, SignedCommitment]] = (),
    ) -> None:
        """Puts a bundle with them on the member's shelf."""
        epoch = self.window.window_id >> 16
        document = bundle_document(self.window.chain_id, epoch, commitments, proofs, pairs)
        self.shelf.documents |= {"/v1/epochs": {"epochs": [{"epoch": epoch}]}, f"/v1/epochs/{epoch}/bundle": document}

    def publish_prover(self, prover: Prover, *rows: int) -> None:
        """Publishes a prover's commitment and its openings of these rows."""
        self.publish([prover.signed(self.node)], [prover.openings(*rows)] if rows else [])

    def court(self, *arguments: object, account: str = "alice", code: int = 0) -> Any:
        """A command of `swarm court` with the shelf as oracle; its document."""
        shared = ("--account", account, "--oracle-url", self.shelf.url)
        backend = () if arguments[0] in {"status", "claim"} else ("--backend", "numpy")
        return self.line.ask(*shared, "court", *arguments, *backend, code=code)

    def watch(self, *arguments: object) -> list[str]:
        """Names of what one look of alice's watcher did."""
        return [event["event"] for event in self.court("watch", "--once", *arguments)["events"]]

    def defend(self, account: str) -> list[str]:
        """Names of what one look of a defender did."""
        return [event["event"] for event in self.court("defend", "--once", account=account)["events"]]

    def play_liar(self, evidence: RowEvidence) -> None:
        """The provider's owner makes its move with evidence of its own making."""
        move = next_move(self.accusation, Side.ACCUSED, self.view, evidence)
        assert move.call is not None, move.effect
        self.send(self.owner, move.call)

    def send(self, signer: KeySigner, call: ContractCall) -> TxOutcome:
        """Sends a call."""
        return self.tools.send(signer, call.contract, call.function, *call.args)

    def bounty(self, reporter: KeySigner) -> int:
        """What the sink holds for a reporter, wei."""
        found = self.tools.call("SlashSink", "bountyOf", reporter.address)
        assert isinstance(found, int)
        return found

    def swm(self, owner: KeySigner) -> int:
        """SWM of a key, wei."""
        found = self.tools.call("SwarmToken", "balanceOf", owner.address)
        assert isinstance(found, int)
        return found
