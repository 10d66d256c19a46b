"""Judgements of ports that members called back. Pure."""

from collections.abc import Sequence

from node.doctor.checks import Check
from node.doctor.facts import Called, Reach
from swarm_chain.core.checkup import Line, ok, unknown, warn

REQUIRED = "reachable from outside"
BY_HAND = "try from another machine: nc -vz HOST PORT"


def judge_unasked(problem: str = "no port is named") -> Check:
    """Say why nobody was asked to call back."""
    remedy = "swarm node doctor --port PORT, as a registered node; a node that only proves needs no open port"
    return Check(line=unknown("ports", problem, remedy), required=REQUIRED)


def judge_ports(found: Sequence[Reach]) -> tuple[Check, ...]:
    """Judge each port by what the members that tried it say; one that reached it is enough.

    Args:
        found: what came of each port.
    """
    return tuple(Check(line=_port(one), required=REQUIRED) for one in found)


def _port(one: Reach) -> Line:
    what, tried = f"ports.{one.port}", [called for called in one.called if not called.refusal]
    if not tried:
        said = "; ".join(f"{called.member}: {called.refusal}" for called in one.called) or "no member is named"
        return unknown(what, f"nobody calls back: {said}", BY_HAND)
    reached = [called for called in tried if called.is_reached]
    if not reached:
        fix = f"open it in the firewall (ufw allow {one.port}/tcp) and forward it in the router"
        return warn(what, f"no member can connect: {_problems(tried)}", fix)
    counted = f"{len(reached)} of {len(tried)} members reach it"
    if not one.is_free:
        return ok(what, f"{counted}; a program of this machine listens there already")
    if not any(called.came_through for called in reached):
        return warn(
            what, f"{counted}, but what they reach is not this machine", "forward the port in the router to here"
        )
    return ok(what, counted)


def _problems(tried: Sequence[Called]) -> str:
    return "; ".join(f"{called.member}: {called.problem}" for called in tried)
