"""The clock of a member: five entries, none of which ever runs twice at once or catches up on what it missed."""

from collections.abc import Callable

import structlog
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler

from oracle.pipeline.member import Member
from oracle.pipeline.ticks import follow, judge_jobs, keep_lease, roll_call, work
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
    scheduler = BackgroundScheduler(
        executors={"default": ThreadPoolExecutor(8)},
        job_defaults={"max_instances": 1, "coalesce": True, "misfire_grace_time": 60},
        timezone="UTC",
    )
    entries = (
        (keep_lease, member.keeper.look_ms),
        (follow, poll_ms),
        (work, poll_ms),
        (judge_jobs, 4 * poll_ms),
        (roll_call, _roll_call_ms(member)),
    )
    for entry, every_ms in entries:
        scheduler.add_job(
            _guarded, "interval", args=(entry, member), seconds=every_ms / 1000, id=entry.__name__, name=entry.__name__
        )
    scheduler.start()
    return scheduler


def _roll_call_ms(member: Member) -> int:
    return member.network.params.liveness.roll_call_for * 1000


def _guarded(entry: Entry, member: Member) -> None:
    try:
        entry(member)
    except SwarmError as error:
        member.metrics.tick_failed(entry.__name__, error.code)
        log.warning("tick_failed", entry=entry.__name__, code=error.code, message=error.message, fix=error.fix)
    except Exception as error:  # the one loop that logs and goes on: a tick that dies must not end the others
        member.metrics.tick_failed(entry.__name__, "crash")
        log.error("tick_crashed", entry=entry.__name__, exc_info=error)
