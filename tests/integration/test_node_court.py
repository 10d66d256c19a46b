"""An honest node accused of a true row, at the real court: it defends itself, across a restart, and keeps what is its own."""

import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from node.records import own_commitments
from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.core import merkle
from swarm_chain.core.court import accusation_id, seal_hash, step_tree
from swarm_chain.core.encoding import keccak, to_hex
from swarm_chain.core.kinds import AccusationState
from swarm_chain.core.model import ContractCall, SignedCommitment
from swarm_chain.core.signing import commitment_hash
from swarm_chain.core.units import ZERO_HASH, Hash32
from swarm_chain.court.calls import accuse_call, approve_call, court_call, seal_call
from swarm_chain.court.desk import CourtDesk
from swarm_chain.court.model import Accusation, offence_of
from swarm_chain.devnet import Devnet
from swarm_chain.params import load_params
from tests.chain_fixtures import ChainTools
from tests.integration.node_stage import STAKE_WEI, Stage, node_stage

COURT = load_params("minimal").compute_court


@pytest.fixture
def stage(ray_cluster: None, chain: Devnet, tools: ChainTools, tmp_path: Path) -> Iterator[Stage]:
    """A provider with one registered node, and an oracle member at work."""
    with node_stage(chain, tools, tmp_path) as made:
        yield made


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuser:
    """Somebody who accuses a row that is true, and picks a step that is true."""

    tools: ChainTools
    key: KeySigner

    def accuse(self, signed: SignedCommitment, row: int) -> Hash32:
        """Seals and opens an accusation; gives its id."""
        offence, salt = offence_of(signed.commitment), keccak(b"salt")
        found = accusation_id(offence, commitment_hash(signed.commitment), row, self.key.address)
        self._send(seal_call(seal_hash(self.key.address, found, salt)))
        self._send(approve_call(self.tools.address("ComputeCourt"), COURT.bond_wei))
        self._send(accuse_call(signed, row, salt))
        return found

    def pick(self, accusation: Accusation, step: int) -> None:
        """Names a step."""
        tree = step_tree(accusation.hashes)
        shown = [{"hash": accusation.hashes[at], "path": list(merkle.path(tree, at))} for at in (step - 1, step)]
        before = shown[0] if step else {"hash": ZERO_HASH, "path": []}
        self._send(court_call("pick", accusation.accusation_id, step, before, shown[1]))

    def _send(self, call: ContractCall) -> None:
        self.tools.send(self.key, call.contract, call.function, *call.args)


def test_honest_node_accused_of_any_row_wins_the_bond_across_a_restart(
    stage: Stage, tools: ChainTools, enemy: Accuser
) -> None:
    desk = CourtDesk(tools.reader, tools.net.deployment)
    first = stage.node()
    signed = _signed(stage, first.wait_for("proof_delivered")["window_id"])
    row, step = secrets.randbelow(signed.commitment.m), secrets.randbelow(signed.commitment.steps + 1)

    accused = enemy.accuse(signed, row)
    assert first.wait_for("accused")["accusation_id"] == to_hex(accused)
    first.wait_for("accusation_answered")
    with stage.time_stopped():
        first.process.kill()
        first.process.wait()
    enemy.pick(desk.look().accusations[accused], step)
    with stage.time_stopped():
        second = stage.node()
        second.wait_for("agent_started")
    second.wait_for("row_revealed")
    paid_before = _swm(tools, stage.owner)
    stage.chain.mine(COURT.move_for + 1)
    assert second.wait_for("accusation_won")["row"] == row

    ended = desk.look().accusations[accused]
    assert ended.state is AccusationState.ACQUITTED, f"row {row}, step {step}"
    assert _swm(tools, stage.owner) == paid_before + COURT.bond_wei
    assert tools.call("StakeVault", "activeStake", ended.provider_id) == STAKE_WEI
    assert tools.call("ComputeCourt", "openAccusations", ended.provider_id) == 0
    failed = [entry["step"] for program in (first, second) for entry in program.events("step_failed")]
    assert not {"TraceRow", "Defend"} & set(failed)


@pytest.fixture
def enemy(chain: Devnet, tools: ChainTools, stage: Stage) -> Accuser:
    """An accuser with SWM for bonds."""
    key = KeySigner(keccak(b"enemy"))
    tools.fund(key.address)
    return Accuser(tools=tools, key=key)


def _signed(stage: Stage, window_id: int) -> SignedCommitment:
    with closing(sqlite3.connect(f"file:{stage.home / 'node' / 'state.sqlite'}?mode=ro", uri=True)) as state:
        kept = own_commitments(state, stage.node_key.address)
    return next(one.signed for one in kept if one.signed.commitment.window_id == window_id)


def _swm(tools: ChainTools, key: KeySigner) -> int:
    found = tools.call("SwarmToken", "balanceOf", key.address)
    assert isinstance(found, int)
    return found
