"""A member for bench/api.py: its own process, real HTTP, SQLite and clock ticks; only the chain under it is in memory.

Registers nodes, opens windows and serves until SIGTERM; logs go to stderr.
"""

import argparse
import secrets
from pathlib import Path

from oracle.config import OracleSettings
from oracle.logs import log_as_json
from oracle.main import run_member
from oracle.model import network_of
from oracle.pipeline.archive import Archive
from oracle.pipeline.desk import Desk
from oracle.pipeline.exchange import Exchange
from oracle.pipeline.follow import Follower
from oracle.pipeline.lease import LeaseKeeper
from oracle.pipeline.member import Member
from oracle.pipeline.metrics import Metrics
from oracle.pipeline.replay_process import ReplayProcess
from oracle.pipeline.sign_log import SignLog
from oracle.pipeline.volumes import Volumes
from oracle.store.engine import open_store
from swarm_chain.adapters.clock import SystemClock
from swarm_chain.core.encoding import keccak, words
from swarm_chain.core.rowchain import NumpyCompute
from swarm_chain.core.units import BlockNumber, EpochNumber, Hash32, WindowId, window_id
from swarm_chain.params import load_params
from swarm_chain.testing import FakeChain, FakeSigner

MINIMAL = load_params("minimal")
LEASE_MS = 10_000


def node_of(number: int) -> FakeSigner:
    """Key of a registered node."""
    return FakeSigner(f"node {number}")


def window_of(number: int) -> tuple[WindowId, Hash32]:
    """An open window of the first epoch and its seed."""
    window = window_id(EpochNumber(0), number)
    return window, keccak(words(window))


def open_chain(nodes: int, windows: int) -> FakeChain:
    """A chain with so many providers of one node each and so many open windows of its first epoch."""
    chain = FakeChain()
    for number in range(nodes):
        owner, node = FakeSigner(f"owner {number}").address, node_of(number).address
        identity = {"owner": owner, "operator": owner, "payout": owner, "hardwareClass": 1, "region": b"eu-west\0"}
        chain.append("ProviderRegistry", "ProviderRegistered", providerId=number + 1, **identity)
        chain.append("ProviderRegistry", "NodeAdded", providerId=number + 1, node=node)
    for window, seed in map(window_of, range(windows)):
        chain.append("ChallengeBeacon", "SecretCommitted", windowId=window, secretHash=keccak(b"secret"))
        chain.append("ChallengeBeacon", "WindowOpened", windowId=window, windowSeed=seed)
    chain.mine()
    return chain


def member_on(chain: FakeChain, folder: Path) -> Member:
    """A member without a key: it follows the chain and takes everything in, but sends nothing."""
    genesis = chain.block("latest").timestamp
    network = network_of(chain.deployment, MINIMAL, genesis)
    engine, follower, clock = (
        open_store(f"sqlite:///{folder / 'oracle.db'}"),
        Follower(chain, BlockNumber(0)),
        SystemClock(),
    )
    desk = Desk(
        network=network,
        engine=engine,
        reader=chain,
        sight=lambda: follower.sight,
        plans=tuple,
        clock=clock,
        boot="this one",
    )
    return Member(
        network=network,
        engine=engine,
        reader=chain,
        follower=follower,
        keeper=LeaseKeeper(engine, clock, holder="bench", lasts_ms=LEASE_MS),
        archive=Archive(chain, engine, network, BlockNumber(0)),
        desk=desk,
        clock=clock,
        compute=NumpyCompute(),
        replays=ReplayProcess(timeout_for=60),
        entropy=secrets.token_bytes,
        metrics=Metrics(),
        exchange=Exchange((), None),
        sign_log=SignLog(folder / "signed-observations"),
        volumes=Volumes(desk=desk, member=None, secret=None),
    )


def main() -> None:
    """Serve until told to stop."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, required=True)
    parser.add_argument("--windows", type=int, required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    options = parser.parse_args()
    log_as_json()
    chain = open_chain(options.nodes, options.windows)
    member = member_on(chain, options.folder)
    run_member(member, OracleSettings(port=options.port), chain.deployment)


if __name__ == "__main__":
    main()
