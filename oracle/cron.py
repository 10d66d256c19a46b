"""The clock of a member: its entries, none of which ever runs twice at once or catches up on what it missed."""

from collections.abc import Callable, Iterator
from functools import partial

import structlog
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler

from oracle.pipeline.member import Member
from oracle.pipeline.ticks import (
    ask_peer,
    catch_up,
    follow,
    judge_answers,
    judge_jobs,
    keep_lease,
    ping_nodes,
    plan_exchange,
    probe_nodes,
    roll_call,
    work,
)
from swarm_chain.core.errors import SwarmError

Entry = Callable[[Member], None]

log = structlog.get_logger()


def start_cron(member: Member, poll_ms: int) -> BackgroundScheduler:
    """Starts the entries in threads of their own.

    Args:
        member: the member they work for.
        poll_ms: milliseconds between two looks at the chain, and between two ticks of the cycle.

    Returns:
        The running scheduler; `shutdown()` waits for the ticks under way.
    """
    entries = tuple(_entries(member, poll_ms))
    scheduler = BackgroundScheduler(
        executors={"default": ThreadPoolExecutor(len(entries))},
        job_defaults={"max_instances": 1, "coalesce": True, "misfire_grace_time": 60},
        timezone="UTC",
    )
    for name, entry, every_ms in entries:
        scheduler.add_job(_guarded, "interval", args=(name, entry, member), seconds=every_ms / 1000, id=name, name=name)
    scheduler.start()
    return scheduler


def _entries(member: Member, poll_ms: int) -> Iterator[tuple[str, Entry, int]]:
    """Name, work and ms between two ticks of every entry; each has a thread of its own, so that none waits for another."""
    yield "keep_lease", keep_lease, member.keeper.look_ms
    yield "follow", follow, poll_ms
    yield "work", work, poll_ms
    yield "judge_jobs", judge_jobs, 4 * poll_ms
    for category in member.auditors:
        yield f"judge_{category}", partial(judge_answers, category), 2 * poll_ms
    yield "probe_nodes", probe_nodes, 2 * poll_ms
    yield "ping_nodes", ping_nodes, 2 * poll_ms
    yield "roll_call", roll_call, _roll_call_ms(member)
    peers = member.exchange.peers
    if peers:
        yield "plan_exchange", plan_exchange, poll_ms
        yield "catch_up", catch_up, 4 * poll_ms
    for number, peer in enumerate(peers):
        yield f"ask_peer {number} {peer.name}", partial(ask_peer, peer), 3 * poll_ms


def _roll_call_ms(member: Member) -> int:
    return member.network.params.liveness.roll_call_for * 1000


def _guarded(name: str, entry: Entry, member: Member) -> None:
    kind = name.partition(" ")[0]  # one series for all peers together
    try:
        entry(member)
        member.metrics.tick_succeeded(kind, member.clock.now())
    except SwarmError as error:
        member.metrics.tick_failed(kind, error.code)
        log.warning("tick_failed", entry=name, code=error.code, message=error.message, fix=error.fix)
    except Exception as error:  # the one loop that logs and goes on: a tick that dies must not end the others
        member.metrics.tick_failed(kind, "crash")
        log.error("tick_crashed", entry=name, exc_info=error)
