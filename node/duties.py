"""Carries out what `next_steps` asks for compute windows, heartbeats and epoch proofs. Stores first, sends second."""

import json

import structlog

from node.memory import Memory
from node.model import (
    DiscardRun,
    FetchPlans,
    ForgetHeads,
    KeepEpochProof,
    SendCommitment,
    SendHeartbeat,
    SendProof,
    SignRun,
    StartRun,
    View,
)
from node.prove import commitment_of, prove_rows, restore_run
from node.records import CommitmentKey, StoredRun, forget_heads, load_run, save_commitment
from node.state import add_delivery, next_sequence
from node.tools import Tools, ask_any, tell_all
from node.windows import CLOSE_TO_DRAW, draw_seed
from swarm_chain.core import merkle
from swarm_chain.core.compute import ComputeChallenge, ComputeShape, ComputeWindow, draw_rows
from swarm_chain.core.encoding import SETTLEMENT_TAG, leaf_domain, settlement_leaf, to_hex
from swarm_chain.core.errors import InconsistentError, UnavailableError
from swarm_chain.core.model import Heartbeat, SignedCommitment, SignedProof
from swarm_chain.core.signing import commitment_hash, heartbeat_hash, proof_hash
from swarm_chain.core.units import EpochNumber, Hash32, Timestamp, WindowId

log = structlog.get_logger()


def send_heartbeat(tools: Tools, memory: Memory, view: View, _: SendHeartbeat) -> None:
    """Signs a sign of life in chain time and hands it to every member."""
    memory.heartbeat_ms = tools.clock.monotonic_ms()
    issued_at = view.block.timestamp
    expires_at = Timestamp(issued_at + tools.params.liveness.message_for)
    sequence = next_sequence(tools.state)
    heartbeat = Heartbeat(node=tools.node, sequence=sequence, issued_at=issued_at, expires_at=expires_at)
    signature = tools.signer.sign_typed(tools.domain, heartbeat_hash(heartbeat))
    for member, error in tell_all(tools, lambda inbox: inbox.heartbeat(heartbeat, signature)):
        log.warning("heartbeat_refused", member=member, code=error.code, reason=error.message)


def fetch_plans(tools: Tools, memory: Memory, _: View, action: FetchPlans) -> None:
    """Asks for the plans of a window; if nobody answers, the plans known before are used.

    Raises:
        UnavailableError: nobody answers and none are known.
    """
    try:
        memory.plans = ask_any(tools, lambda reader: reader.plans(tools.node))
    except UnavailableError as error:
        if not memory.plans:
            raise
        log.warning("plans_unavailable", window_id=action.window_id, reason=error.message, kept=len(memory.plans))
    memory.plans_for = action.window_id


def start_run(tools: Tools, memory: Memory, _: View, action: StartRun) -> None:
    """Gives a device its challenge."""
    challenge = ComputeChallenge(
        window=_window(tools, action.window_id, action.window_seed),
        node=tools.node,
        device=action.plan.device,
        shape=action.plan.shape,
    )
    tools.devices.start(challenge)
    memory.running.add((action.window_id, action.plan.device))
    shape = action.plan.shape
    log.info(
        "run_started", window_id=action.window_id, device=action.plan.device, m=shape.m, n=shape.n, steps=shape.steps
    )


def sign_run(tools: Tools, memory: Memory, _: View, action: SignRun) -> None:
    """Builds the tree, signs its root and stores both with the heads; nothing is sent here."""
    challenge = action.challenge
    finished = memory.heads.pop((challenge.window.window_id, challenge.device))
    commitment = commitment_of(restore_run(challenge, finished.heads))
    signature = tools.signer.sign_typed(tools.domain, commitment_hash(commitment))
    signed = SignedCommitment(commitment=commitment, signature=signature)
    save_commitment(tools.state, StoredRun(signed=signed, heads=finished.heads))
    log.info(
        "commitment_stored", window_id=commitment.window_id, device=commitment.device, root=to_hex(commitment.root)
    )


def discard_run(_: Tools, memory: Memory, __: View, action: DiscardRun) -> None:
    """Drops a run that came too late or answered a seed the chain does not know."""
    window = action.challenge.window
    memory.heads.pop((window.window_id, action.challenge.device), None)
    log.warning("run_discarded", window_id=window.window_id, device=action.challenge.device)


def send_commitment(tools: Tools, _: Memory, __: View, action: SendCommitment) -> None:
    """Hands the stored commitment to a member."""
    key = CommitmentKey(window_id=action.window_id, window_seed=action.window_seed, device=action.device)
    tools.members[action.member].inbox.commitment(load_run(tools.state, key, tools.node).signed)
    add_delivery(tools.state, "commitment", key.subject, action.member)
    log.info("commitment_delivered", window_id=action.window_id, device=action.device, member=action.member)


def send_proof(tools: Tools, _: Memory, __: View, action: SendProof) -> None:
    """Checks the draw against the chain's block and opens the drawn rows.

    Raises:
        InconsistentError: the draw seed does not follow from the block: the endpoint lies or the window was rewritten.
    """
    window, device = action.window, action.device
    key = CommitmentKey(window_id=window.window_id, window_seed=window.window_seed, device=device)
    stored = load_run(tools.state, key, tools.node)
    drawn_from = tools.chain.block(window.closed_block + CLOSE_TO_DRAW).hash
    if draw_seed(drawn_from, window) != window.draw_seed:
        raise InconsistentError(
            f"the draw of window {window.window_id} does not follow from its block", code="false_draw"
        )
    challenge = _challenge_of(tools, stored)
    run, root = restore_run(challenge, stored.heads), stored.signed.commitment.root
    rows = draw_rows(window.draw_seed, challenge, root, tools.params.compute.draws)
    proof = prove_rows(run, rows)
    signature = tools.signer.sign_typed(tools.domain, proof_hash(proof))
    tools.members[action.member].inbox.proof(SignedProof(proof=proof, signature=signature))
    add_delivery(tools.state, "proof", key.subject, action.member)
    log.info("proof_delivered", window_id=window.window_id, device=device, rows=len(rows), member=action.member)


def forget_old_heads(tools: Tools, _: Memory, __: View, action: ForgetHeads) -> None:
    """Frees the space of openings nobody can ask for any more."""
    forget_heads(tools.state, action.before)


def keep_epoch_proof(tools: Tools, memory: Memory, view: View, action: KeepEpochProof) -> None:
    """Fetches the own leaf of an accepted root, verifies it against the chain's root and keeps it.

    Raises:
        InconsistentError: a member publishes a leaf that is not in the root the chain accepted.
    """
    root = action.root
    proof = ask_any(tools, lambda reader: reader.epoch_proof(root.epoch, view.provider_id))
    leaf, settlement = proof.leaf, tools.deployment.contracts["RewardSettlement"]
    hashed = settlement_leaf(leaf_domain(SETTLEMENT_TAG, tools.deployment.chain_id, settlement), leaf)
    if leaf.provider_id != view.provider_id or not merkle.verify(root.root, hashed, proof.path):
        raise InconsistentError(
            f"the published leaf of epoch {root.epoch} is not in the accepted root", code="false_leaf"
        )
    document = {
        "epoch": root.epoch,
        "rootIndex": root.index,
        "root": to_hex(root.root),
        "providerId": leaf.provider_id,
        "cumRewardWei": str(leaf.cum_reward_wei),
        "cumPenaltyWei": str(leaf.cum_penalty_wei),
        "path": [to_hex(sibling) for sibling in proof.path],
    }
    folder = tools.home / "proofs"
    folder.mkdir(parents=True, exist_ok=True)
    beside = folder / f"{root.epoch}.part"
    beside.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    beside.replace(folder / f"{root.epoch}.json")
    memory.kept_epochs.add(EpochNumber(root.epoch))
    log.info("epoch_proof_kept", epoch=root.epoch, cum_reward_wei=str(leaf.cum_reward_wei))


def _challenge_of(tools: Tools, stored: StoredRun) -> ComputeChallenge:
    c = stored.signed.commitment
    return ComputeChallenge(
        window=_window(tools, c.window_id, c.window_seed),
        node=c.node,
        device=c.device,
        shape=ComputeShape(m=c.m, n=c.n, steps=c.steps),
    )


def _window(tools: Tools, window_id: WindowId, window_seed: Hash32) -> ComputeWindow:
    return ComputeWindow(
        chain_id=tools.deployment.chain_id, beacon=tools.beacon, window_id=window_id, window_seed=window_seed
    )
