"""Collects a situation: asks chain and members, reads the state file, lets the doctor look. Nothing is changed."""

import os
import sqlite3

from node.chain_watch import first_block_of
from node.config import NodeSettings
from node.doctor.examine import examine
from node.doctor.facts import Standing
from node.events import address_of
from node.idle.reasons import ChainSide, Situation
from node.jobs.board import fold_jobs
from node.main import node_deployment
from node.model import JobPhase, OwnCommitment, OwnJob
from node.records import own_commitments, own_jobs
from node.registration import known_address
from node.state import is_held
from node.status import chain_view, member_view
from node.windows import fold_windows
from swarm_chain.adapters.connection import connect_chain
from swarm_chain.adapters.panel import Quorum
from swarm_chain.core.errors import SwarmError
from swarm_chain.core.model import ContractCall
from swarm_chain.core.units import Address, Timestamp, Wei
from swarm_chain.params import load_params
from swarm_chain.ports import ChainReader

WORKING = (JobPhase.ACCEPTING, JobPhase.RUNNING)


def situation(settings: NodeSettings) -> Situation:
    """Everything `why_idle` needs; a part that does not answer is a fact of its own.

    Args:
        settings: the node's.
    """
    if not settings.key_file.is_file():
        return Situation(has_key=False, chain=None)
    node = known_address(settings)
    chain, problem = _chain_or_problem(settings, node)
    commitments, jobs = _records(settings, node)
    return Situation(
        has_key=True,
        chain=chain,
        chain_problem=problem,
        is_running=is_held(settings.folder),
        members=tuple(member_view(url, node) for url in settings.oracle_urls),
        commitments=commitments,
        own_jobs=tuple(str(job.job_id) for job in jobs if job.phase in WORKING),
        takes_jobs=settings.jobs,
        load_percent=int(os.getloadavg()[0] * 100) // (os.cpu_count() or 1),
        checks=examine(settings, deep=False),
    )


def _chain_or_problem(settings: NodeSettings, node: Address) -> tuple[ChainSide | None, str]:
    try:
        deployment = node_deployment(settings)
        reader = connect_chain(settings.endpoints, deployment, Quorum(agree=settings.rpc_agree)).reader
        params = load_params(deployment.params)
        first = first_block_of(reader, deployment.block, settings.lookback_blocks, params.compute_court)
        return chain_side(reader, node, params.stake.minimum_wei, first), ""
    except SwarmError as error:
        return None, error.message


def chain_side(reader: ChainReader, node: Address, minimum_wei: Wei, first_block: int) -> ChainSide:
    """What the chain shows of a node since a block.

    Args:
        reader: the chain.
        node: address of the node key.
        minimum_wei: least stake of a provider.
        first_block: block from which events are read.

    Raises:
        UnavailableError: the chain does not answer.
    """
    view = chain_view(reader, node)
    staked: object = 0
    if view.provider_id:
        staked = reader.call(ContractCall(contract="StakeVault", function="activeStake", args=(view.provider_id,)))
    events = reader.events(first_block, reader.block("latest").number)
    added = [one.timestamp for one in events if one.name == "NodeAdded" and address_of(one, "node") == node]
    return ChainSide(
        standing=Standing(node=view, active_stake_wei=Wei(int(str(staked)))),
        minimum_wei=minimum_wei,
        windows=tuple(fold_windows({}, events).values()),
        offers=tuple(fold_jobs({}, events).values()),
        added_at=Timestamp(max(added, default=0)),
    )


def _records(settings: NodeSettings, node: Address) -> tuple[tuple[OwnCommitment, ...], tuple[OwnJob, ...]]:
    path = settings.folder / "state.sqlite"
    if not path.is_file():
        return (), ()
    state = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return own_commitments(state, node), own_jobs(state)
    finally:
        state.close()
