"""Carries out what `audit_steps` asks for, and takes in what came of it."""

import structlog

from node.audits.board import claim_of
from node.memory import Memory
from node.model import PrepareClaim, StartAudit, View
from node.ports import FinishedAudit
from node.tools import Tools

log = structlog.get_logger()

LOST = frozenset(
    {"not_prepared", "claim_lost", "memory_differs", "lost_blocks"}
)  # what was prepared is gone, or no longer right


def start_audit(tools: Tools, _: Memory, __: View, action: PrepareClaim | StartAudit) -> None:
    """Begins a preparation or an audit beside the agent, unless it is under way."""
    if action.key not in tools.audits.busy:
        tools.audits.start(action)


def collect_audit(memory: Memory, done: FinishedAudit) -> None:
    """Notes what is prepared and audited; what failed is asked for again."""
    action = done.action
    if done.error is not None:
        if done.error.code in LOST and isinstance(action, StartAudit):
            memory.prepared.discard(claim_of(action.key))
        log.warning(
            "audit_failed",
            category=action.key.category,
            window_id=action.key.window_id,
            device=action.key.device,
            code=done.error.code,
            reason=done.error.message,
            fix=done.error.fix,
        )
    elif isinstance(action, PrepareClaim):
        memory.prepared.add(action.key)
        log.info("claim_prepared", category=action.key.category, device=action.key.device, first=action.key.window_id)
    else:
        memory.audited.add(action.key)
        log.info(
            "audit_answered",
            category=action.key.category,
            window_id=action.key.window_id,
            device=action.key.device,
            member=action.key.member,
        )


def forget_old_audits(memory: Memory, view: View) -> None:
    """Drops what is about windows the agent no longer looks at."""
    known = {window.window_id for window in view.windows}
    memory.prepared = {key for key in memory.prepared if key.window_id in known}
    memory.audited = {key for key in memory.audited if key.window_id in known}
