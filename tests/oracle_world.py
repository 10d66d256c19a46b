"""A small network as the oracle sees it: real keys, real runs of the row chain, real signatures, no chain and no clock.

Shapes are the smallest the proof allows, so that a whole epoch of four providers takes milliseconds.
"""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from eth_keys.datatypes import PrivateKey

from oracle.consensus.bundle import EvidencePool, assemble_bundle
from oracle.judge.windows import commitments_root
from oracle.model import (
    Arrival,
    Bundle,
    JobFinding,
    Network,
    Observation,
    PreviousEpoch,
    RollCall,
    SignedObservation,
)
from oracle.publish.observation import ordered_observation, signing_digest
from oracle.publish.report import PublishedEpoch
from swarm_chain.core import merkle
from swarm_chain.core.compute import (
    HEAD_BYTES,
    ComputeChallenge,
    ComputeShape,
    ComputeWindow,
    commitment_tree,
    draw_rows,
    seed_w,
    seed_x,
)
from swarm_chain.core.encoding import keccak
from swarm_chain.core.kinds import WindowState
from swarm_chain.core.model import (
    BlockRef,
    ChainState,
    Commitment,
    Opening,
    Proof,
    ProviderRecord,
    SignedCommitment,
    SignedProof,
    WindowRecord,
)
from swarm_chain.core.rowchain import NumpyCompute
from swarm_chain.core.signing import commitment_digest, domain_separator, proof_digest
from swarm_chain.core.units import (
    WEI_PER_SWM,
    Address,
    BlockNumber,
    EpochNumber,
    Hash32,
    ProviderId,
    Signature,
    Timestamp,
    Wei,
    WindowId,
    window_id,
)
from swarm_chain.params import load_params

GENESIS_AT = Timestamp(1_700_000_000)
CHAIN_ID = 31337
SHAPE = ComputeShape(m=256, n=64, steps=8)
MINIMAL = load_params("minimal")
PARAMS = replace(
    MINIMAL,
    compute=replace(
        MINIMAL.compute, m=256, min_m=256, max_m=256, n=64, steps=8, first_steps=8, max_steps=16, draws=8, target_ms=1
    ),
)


@cache
def key(label: str) -> PrivateKey:
    """The key of a name; the same one always."""
    return PrivateKey(keccak(label.encode()))


def address(label: str) -> Address:
    """Checksummed address of a name's key."""
    return Address(key(label).public_key.to_checksum_address())


def sign(label: str, digest: Hash32) -> Signature:
    """65 bytes r || s || v with v 27 or 28, deterministic (RFC 6979)."""
    raw = key(label).sign_msg_hash(digest).to_bytes()
    return Signature(raw[:64] + bytes([raw[64] + 27]))


NETWORK = Network(
    chain_id=CHAIN_ID,
    genesis_at=GENESIS_AT,
    beacon=address("beacon"),
    settlement=address("settlement"),
    court=address("court"),
    escrow=address("escrow"),
    params=PARAMS,
)
DOMAIN = domain_separator(CHAIN_ID, NETWORK.beacon)
MEMBERS = (address("member 1"),)


def ref_block(epoch: int) -> BlockRef:
    """Reference block of an epoch: one second before its end."""
    return BlockRef(
        number=BlockNumber(100 * (epoch + 1)),
        hash=keccak(b"block %d" % epoch),
        timestamp=Timestamp(NETWORK.epoch_end(epoch) - 1),
    )


def provider(number: int, *nodes: str, stake_swm: int = 100_000, **changes: Any) -> ProviderRecord:
    """A provider that joined before genesis, with nodes by name; `changes` are fields of ProviderRecord."""
    record = ProviderRecord(
        provider_id=ProviderId(number),
        owner=address(f"owner {number}"),
        operator=address(f"operator {number}"),
        payout=address(f"payout {number}"),
        hardware_class=1,
        region=b"eu-west\0",
        registered_at=Timestamp(GENESIS_AT - 1000),
        suspended_until=Timestamp(0),
        retired=False,
        nodes=tuple(address(node) for node in nodes),
        stake_wei=Wei(stake_swm * WEI_PER_SWM),
        active_stake_wei=Wei(stake_swm * WEI_PER_SWM),
    )
    return replace(record, **changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One device's run of one window: what it signed to commit, and the tree and heads to open it from."""

    node: str
    challenge: ComputeChallenge
    signed: SignedCommitment
    heads: bytes
    tree: bytes

    @property
    def commitment(self) -> Commitment:
        """What was committed to."""
        return self.signed.commitment


def run(
    window: WindowRecord, node: str, device: int = 0, shape: ComputeShape = SHAPE, garbage_from: int = SHAPE.m
) -> Run:
    """Run the row chain and commit; rows from `garbage_from` on are not computed but made up."""
    challenge = ComputeChallenge(
        window=ComputeWindow(
            chain_id=CHAIN_ID, beacon=NETWORK.beacon, window_id=window.window_id, window_seed=window.window_seed
        ),
        node=address(node),
        device=device,
        shape=shape,
    )
    honest = _heads(seed_x(challenge.window, address(node), device), seed_w(challenge.window, shape.n), shape)
    heads = honest[: garbage_from * HEAD_BYTES].ljust(len(honest), b"\x5a")
    tree = commitment_tree(heads)
    commitment = Commitment(
        window_id=window.window_id,
        window_seed=window.window_seed,
        node=address(node),
        device=device,
        m=shape.m,
        n=shape.n,
        steps=shape.steps,
        root=merkle.root(tree),
    )
    return Run(node=node, challenge=challenge, signed=commit(node, commitment), heads=heads, tree=tree)


def commit(node: str, commitment: Commitment) -> SignedCommitment:
    """Sign a commitment as the node."""
    return SignedCommitment(commitment=commitment, signature=sign(node, commitment_digest(DOMAIN, commitment)))


def prove(done: Run, window: WindowRecord, draws: int = PARAMS.compute.draws) -> SignedProof:
    """Open the drawn rows of a run and sign."""
    rows = draw_rows(window.draw_seed, done.challenge, done.commitment.root, draws)
    openings = tuple(
        Opening(row=row, head=done.heads[row * HEAD_BYTES :][:HEAD_BYTES], path=merkle.path(done.tree, row))
        for row in rows
    )
    c = done.commitment
    return sign_proof(
        done.node, Proof(window_id=c.window_id, node=c.node, device=c.device, root=c.root, openings=openings)
    )


def sign_proof(node: str, proof: Proof) -> SignedProof:
    """Sign a proof as the node."""
    return SignedProof(proof=proof, signature=sign(node, proof_digest(DOMAIN, proof)))


def opened(epoch: int, number: int) -> WindowRecord:
    """A window that is open: 20 s apart, the first one 2 s after the epoch began."""
    identity = window_id(EpochNumber(epoch), number)
    return WindowRecord(
        window_id=identity,
        state=WindowState.OPEN,
        window_seed=keccak(b"window %d" % identity),
        opened_at=Timestamp(NETWORK.epoch_start(epoch) + 2 + 20 * number),
        opened_block=BlockNumber(100 * epoch + 5 + 20 * number),
    )


def drawn(window: WindowRecord, commitments: tuple[SignedCommitment, ...]) -> WindowRecord:
    """The same window after it closed over some commitments and its rows were drawn."""
    root = commitments_root(signed.commitment for signed in commitments)
    return replace(
        window,
        state=WindowState.DRAWN,
        commitments_root=root,
        commitment_count=len(commitments),
        draw_seed=keccak(b"draw" + root + window.window_seed),
        closed_at=Timestamp(window.opened_at + 10),
        closed_block=BlockNumber(window.opened_block + 10),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """How a device behaves: rows it really computes, milliseconds it takes, and whether it commits and opens at all."""

    node: str
    garbage_from: int = SHAPE.m
    elapsed_ms: int = 1
    commits: bool = True
    opens: bool = True
    shape: ComputeShape = SHAPE


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """An epoch that ended: the chain at its reference block and the evidence of one member."""

    state: ChainState
    pool: EvidencePool
    epoch: EpochNumber

    def bundle(self, previous: PreviousEpoch | None = None) -> Bundle:
        """The evidence bundle on top of a previous report."""
        before = previous.manifest_hash if previous else Hash32(bytes(32))
        return assemble_bundle(self.pool, self.epoch, self.state, before, NETWORK)


def scene(
    providers: tuple[ProviderRecord, ...],
    devices: tuple[Device, ...],
    *,
    epoch: int = 0,
    roll_calls: dict[str, tuple[int, int]] | None = None,
    jobs: tuple[JobFinding, ...] = (),
    windows: int = 2,
) -> Scene:
    """Play an epoch: every device runs, commits and opens in every window, and one member observes it."""
    records, commitments, proofs, arrivals = [], [], [], []
    for number in range(windows):
        window = opened(epoch, number)
        runs = [(d, run(window, d.node, 0, d.shape, d.garbage_from)) for d in devices if d.commits]
        window = drawn(window, tuple(done.signed for _, done in runs))
        records.append(window)
        commitments += [done.signed for _, done in runs]
        proofs += [prove(done, window) for device, done in runs if device.opens]
        arrivals += [_arrival(window.window_id, device) for device, _ in runs]
    present = {device.node: (30, 30) for device in devices} | (roll_calls or {})
    observation = Observation(
        epoch=EpochNumber(epoch),
        member=MEMBERS[0],
        arrivals=tuple(arrivals),
        roll_calls=tuple(RollCall(node=address(n), present=p, total=t) for n, (p, t) in present.items()),
        jobs=jobs,
    )
    pool = EvidencePool(
        observations=(observe("member 1", observation),), commitments=tuple(commitments), proofs=tuple(proofs)
    )
    state = ChainState(block=ref_block(epoch), providers=providers, windows=tuple(records), members=MEMBERS, quorum=1)
    return Scene(state=state, pool=pool, epoch=EpochNumber(epoch))


def observe(label: str, observation: Observation) -> SignedObservation:
    """Order and sign an observation as a member."""
    ordered = ordered_observation(observation)
    return SignedObservation(observation=ordered, signature=sign(label, signing_digest(ordered, DOMAIN)))


def previous_of(published: PublishedEpoch) -> PreviousEpoch:
    """What the next epoch builds on, as if read back from a published one."""
    return PreviousEpoch(
        manifest_hash=published.report.manifest_hash,
        leaves=published.settlement.result.leaves,
        state=published.settlement.next_state,
    )


@cache
def _heads(seed_of_x: int, seed_of_w: int, shape: ComputeShape) -> bytes:
    compute = NumpyCompute()
    x = compute.rows(seed_of_x, np.arange(shape.m, dtype=np.int64), shape.n)
    return compute.run_chain(x, compute.weights(seed_of_w, shape.n), shape.steps).tobytes()


def _arrival(window: WindowId, device: Device) -> Arrival:
    return Arrival(window_id=window, node=address(device.node), device=0, elapsed_ms=device.elapsed_ms)
