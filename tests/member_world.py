"""An oracle member in one process over a chain in memory: real keys, real HTTP application, real SQLite, no sockets."""

from copy import copy
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from fastapi import FastAPI
from starlette.testclient import TestClient

from node import wire
from oracle.api.app import create_app
from oracle.model import Network, network_of
from oracle.pipeline.archive import Archive
from oracle.pipeline.auditors import Grounds, auditors_of
from oracle.pipeline.backlog import Sender
from oracle.pipeline.desk import Desk
from oracle.pipeline.exchange import Exchange
from oracle.pipeline.follow import Follower
from oracle.pipeline.lease import LeaseKeeper
from oracle.pipeline.member import Member
from oracle.pipeline.metrics import Metrics
from oracle.pipeline.replay_process import ReplayProcess
from oracle.pipeline.sign_log import SignLog
from oracle.pipeline.ticks import follow
from oracle.pipeline.volume_secret import VolumeSecret
from oracle.pipeline.volumes import Volumes
from oracle.store.engine import open_store
from swarm_chain.core.compute import ComputeChallenge, ComputeShape, ComputeWindow, commitment_tree, draw_rows
from swarm_chain.core.encoding import keccak, words
from swarm_chain.core.merkle import path, root
from swarm_chain.core.messages import Json
from swarm_chain.core.model import (
    Commitment,
    Heartbeat,
    Opening,
    Proof,
    SignedCommitment,
    SignedProof,
    WindowRecord,
)
from swarm_chain.core.rowchain import NumpyCompute
from swarm_chain.core.signing import commitment_hash, domain_separator, heartbeat_hash, proof_hash
from swarm_chain.core.units import (
    ZERO_HASH,
    BlockNumber,
    EpochNumber,
    Hash32,
    Signature,
    Timestamp,
    WindowId,
    window_id,
)
from swarm_chain.params import load_params
from swarm_chain.testing import FakeChain, FakeClock, FakeSigner
from tests.http_clients import client_of
from tests.stores import sqlite_store

MINIMAL = load_params("minimal")
COMPUTE = replace(MINIMAL.compute, m=64, min_m=64, max_m=64, n=64, steps=1, first_steps=2, draws=4)
PARAMS = replace(MINIMAL, compute=COMPUTE)
SHAPE = ComputeShape(m=COMPUTE.m, n=COMPUTE.n, steps=COMPUTE.first_steps)
NEVER_LAPSES_MS = 10**12
ALICE, BOB, STRANGER = FakeSigner("alice's node"), FakeSigner("bob's node"), FakeSigner("a stranger")
HEADS = bytes(range(64)) * COMPUTE.m  # the desk takes openings as they are; whether they are true is the judge's to say


class MemberWorld:
    """A member that has seen the chain, with two providers of one node each.

    Args:
        folder: where its database is.
        beside: another member on whose chain this one is; None for a chain of its own.
        name: of its key.
        database_url: of another database than a SQLite file in that folder.
        clock: of the machine it runs on.
    """

    def __init__(
        self,
        folder: Path,
        beside: "MemberWorld | None" = None,
        name: str = "oracle",
        *,
        database_url: str | None = None,
        clock: FakeClock | None = None,
    ) -> None:
        self.folder = folder
        self.chain: FakeChain = beside.chain if beside else FakeChain()
        self.clock = clock or FakeClock()
        self.signer = FakeSigner(name)
        self.network: Network = beside.network if beside else self._network()
        self.engine = open_store(database_url) if database_url else sqlite_store(folder / "oracle.db")
        self.member = self._member()
        self.domain = self.member.desk.domain
        for number, node in enumerate(() if beside else (ALICE, BOB), start=1):
            self._register(number, node)
        self.follow()

    @cached_property
    def app(self) -> FastAPI:
        """The member's HTTP application; made when it is first asked for, since many tests never do."""
        return create_app(self.member, self.chain.deployment.contracts)

    @cached_property
    def client(self) -> TestClient:
        """A client of it."""
        return client_of(self.app)

    @property
    def epoch(self) -> EpochNumber:
        """Epoch of the latest block."""
        return self.network.epoch_at(self.chain.block("latest").timestamp)

    @property
    def now(self) -> int:
        """Chain time."""
        return self.chain.block("latest").timestamp

    def follow(self) -> None:
        """Mines what waits and lets the member look."""
        self.chain.mine()
        follow(self.member)

    def log(self, contract: str, event: str, **args: object) -> None:
        """Puts a log into the next block and lets the member see it."""
        self.chain.append(contract, event, **args)
        self.follow()

    def open(self, number: int = 0) -> WindowId:
        """Commits to a secret of a window of the running epoch and opens it; the member's clock of it starts."""
        window = window_id(self.epoch, number)
        self.log("ChallengeBeacon", "SecretCommitted", windowId=window, secretHash=keccak(b"secret"))
        self.log("ChallengeBeacon", "WindowOpened", windowId=window, windowSeed=seed_of(window))
        return window

    def reopen(self, window: WindowId) -> Hash32:
        """Opens a window anew, as on a branch that replaced the one it was opened on first; gives its seed there."""
        seed = keccak(b"another branch" + words(window))
        self.log("ChallengeBeacon", "WindowOpened", windowId=window, windowSeed=seed)
        return seed

    def record(self, window: WindowId) -> WindowRecord:
        """The window as the member sees it."""
        return next(one for one in self.member.follower.sight.state.windows if one.window_id == window)

    def close(self, window: WindowId, root: Hash32 = ZERO_HASH) -> None:
        """Closes a window over a root."""
        self.log("ChallengeBeacon", "WindowClosed", windowId=window, commitmentsRoot=root, commitmentCount=1)

    def draw(self, window: WindowId) -> Hash32:
        """Draws a closed window; gives the seed."""
        seed = keccak(b"draw" + words(window))
        self.log("ChallengeBeacon", "WindowDrawn", windowId=window, drawSeed=seed)
        return seed

    def commitment(self, window: WindowId, node: FakeSigner = ALICE, heads: bytes = HEADS) -> Commitment:
        """What a node commits to; other heads give another root."""
        return Commitment(
            window_id=window,
            window_seed=seed_of(window),
            node=node.address,
            device=0,
            m=SHAPE.m,
            n=SHAPE.n,
            steps=SHAPE.steps,
            root=root(commitment_tree(heads)),
        )

    def commit(self, commitment: Commitment, key: FakeSigner = ALICE, domain: Hash32 | None = None) -> SignedCommitment:
        """A commitment signed by a key for a domain, the member's if none is given."""
        signature = key.sign_typed(self.domain if domain is None else domain, commitment_hash(commitment))
        return SignedCommitment(commitment=commitment, signature=signature)

    def proof(self, commitment: Commitment, seed: Hash32, heads: bytes = HEADS) -> Proof:
        """Openings of the drawn rows of a commitment."""
        window = ComputeWindow(
            chain_id=self.network.chain_id,
            beacon=self.network.beacon,
            window_id=commitment.window_id,
            window_seed=commitment.window_seed,
        )
        challenge = ComputeChallenge(window=window, node=commitment.node, device=0, shape=SHAPE)
        tree = commitment_tree(heads)
        openings = tuple(
            Opening(row=row, head=heads[64 * row :][:64], path=path(tree, row))
            for row in draw_rows(seed, challenge, commitment.root, COMPUTE.draws)
        )
        return Proof(
            window_id=commitment.window_id,
            node=commitment.node,
            device=commitment.device,
            root=commitment.root,
            openings=openings,
        )

    def show(self, proof: Proof, key: FakeSigner = ALICE) -> SignedProof:
        """A proof signed by a key."""
        return SignedProof(proof=proof, signature=key.sign_typed(self.domain, proof_hash(proof)))

    def heartbeat(
        self, node: FakeSigner = ALICE, *, sequence: int = 1, lives_for: int = 30, lead: int = 0
    ) -> Heartbeat:
        """A sign of life issued `lead` seconds ahead of the chain's latest block."""
        issued = self.chain.block("latest").timestamp + lead
        return Heartbeat(
            node=node.address,
            sequence=sequence,
            issued_at=Timestamp(issued),
            expires_at=Timestamp(issued + lives_for),
        )

    def beat(self, heartbeat: Heartbeat, key: FakeSigner = ALICE, signature: Signature | None = None) -> Json:
        """Body of a signed heartbeat."""
        signed = signature or key.sign_typed(self.domain, heartbeat_hash(heartbeat))
        return wire.heartbeat_body(heartbeat, signed)

    def successor(self, boot: str) -> "MemberWorld":
        """The same member in another process, which took over under a boot; this one stands by from now on."""
        self.member.keeper.give_back()
        other = copy(self)
        keeper = LeaseKeeper(self.engine, self.clock, holder=f"process on {boot}", lasts_ms=NEVER_LAPSES_MS)
        keeper.keep()
        other.member = replace(self.member, keeper=keeper, desk=replace(self.member.desk, boot=boot))
        other.app = create_app(other.member, self.chain.deployment.contracts)
        other.client = client_of(other.app)
        return other

    def close_down(self) -> None:
        """Gives the database back."""
        self.engine.dispose()

    def _register(self, number: int, node: FakeSigner) -> None:
        owner = FakeSigner(f"owner {number}").address
        identity = {"owner": owner, "operator": owner, "payout": owner, "hardwareClass": 1, "region": b"eu-west\0"}
        self.chain.append("ProviderRegistry", "ProviderRegistered", providerId=number, **identity)
        self.chain.append("ProviderRegistry", "NodeAdded", providerId=number, node=node.address)

    def _network(self) -> Network:
        genesis = self.chain.block("latest").timestamp
        return replace(network_of(self.chain.deployment, MINIMAL, genesis), params=PARAMS)

    def _member(self) -> Member:
        follower = Follower(self.chain, BlockNumber(0))
        desk = Desk(
            network=self.network,
            engine=self.engine,
            reader=self.chain,
            sight=lambda: follower.sight,
            plans=tuple,
            clock=self.clock,
            boot="boot 1",
        )
        keeper = LeaseKeeper(self.engine, self.clock, holder="process 1", lasts_ms=NEVER_LAPSES_MS)
        keeper.keep()
        writer, replays = self.chain.writer(self.signer), ReplayProcess(timeout_for=60)
        secret = VolumeSecret(raw=keccak(b"storage secret of " + self.signer.address.encode()))
        volumes = Volumes(desk=desk, member=self.signer.address, secret=secret)
        return Member(
            network=self.network,
            engine=self.engine,
            reader=self.chain,
            follower=follower,
            keeper=keeper,
            archive=Archive(self.chain, self.engine, self.network, BlockNumber(0)),
            desk=desk,
            clock=self.clock,
            compute=NumpyCompute(),
            replays=replays,
            entropy=lambda size: keccak(b"entropy")[:size],
            metrics=Metrics(),
            exchange=Exchange((), self.signer.address),
            sign_log=SignLog(self.folder / "signed-observations"),
            auditors=auditors_of(
                Grounds(
                    network=self.network,
                    sight=lambda: follower.sight,
                    engine=self.engine,
                    replays=replays,
                    volumes=volumes,
                )
            ),
            volumes=volumes,
            signer=self.signer,
            sender=Sender(
                engine=self.engine, writer=writer, address=self.signer.address, clock=self.clock, fence=keeper.fence
            ),
        )


def seed_of(window: WindowId) -> Hash32:
    """Seed the windows of this world are opened with."""
    return keccak(words(window))


def other_domain(world: MemberWorld, *, chain_id: int | None = None, contract: str = "ChallengeBeacon") -> Hash32:
    """The EIP-712 domain of another chain or contract."""
    deployment = world.chain.deployment
    return domain_separator(chain_id or deployment.chain_id, deployment.contracts[contract])
