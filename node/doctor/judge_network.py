"""Judgements of what is outside and of the node itself: chain, oracle, keys, registration, stake, gas. Pure."""

from collections.abc import Mapping, Sequence

from node.doctor.checks import Check
from node.doctor.facts import Endpoint, File, MemberSaid, Standing
from node.standing import AgentSide, ChainNodeView, NodeState, next_command, state_of
from swarm_chain.core.checkup import (
    SHOWN,
    SKEW_FOR,
    Line,
    differing,
    fail,
    judge_clock,
    ok,
    others_may_use,
    unknown,
    warn,
)
from swarm_chain.core.economics import StakeParams
from swarm_chain.core.units import Wei, format_swm

REGISTER = "swarm node register"


def judge_endpoints(found: Sequence[Endpoint], chain_id: int | None) -> tuple[Check, ...]:
    """Judge the chain endpoints one by one.

    Args:
        found: what each answered.
        chain_id: the deployment's; None if there is no deployment.
    """
    required = "answers" if chain_id is None else f"answers for chain {chain_id}"
    lines = [_endpoint(f"rpc.{place}", one, chain_id) for place, one in enumerate(found, 1)]
    return tuple(Check(line=line, required=required) for line in lines)


def _endpoint(what: str, one: Endpoint, chain_id: int | None) -> Line:
    if one.problem:
        return fail(what, f"{one.name}: {one.problem}", "start it, or name another endpoint in SWARM_RPC_URL")
    if chain_id is not None and one.chain_id != chain_id:
        fix = "name an endpoint of the deployment's chain in SWARM_RPC_URL, or that chain's --deployment"
        return fail(what, f"{one.name} serves chain {one.chain_id}", fix)
    return ok(what, f"{one.name}: chain {one.chain_id}, block {one.block}")


def judge_deployment(found: str, problem: str) -> Check:
    """Judge the deployment file: `found` describes it, `problem` says why there is none."""
    fix = "name the network's file with --deployment or SWARM_DEPLOYMENT"
    line = fail("deployment", problem, fix) if problem else ok("deployment", found)
    return Check(line=line, required="the network's file")


def judge_chain_clock(now: int, endpoints: Sequence[Endpoint]) -> Check:
    """Judge this machine's clock against the newest block any endpoint shows, unix s."""
    newest = max((one.block_at for one in endpoints if not one.problem), default=None)
    required = f"within {SKEW_FOR} s"
    if newest is None:
        return Check(line=unknown("clock.chain", "no endpoint answers", "see the lines rpc"), required=required)
    return Check(line=judge_clock("clock.chain", now, newest), required=required)


def judge_members(found: Sequence[MemberSaid], want: Mapping[str, object]) -> tuple[Check, ...]:
    """Judge the oracle members: one that is silent is a warning while another one answers.

    Args:
        found: what each said.
        want: fields of a status that must be as given; empty if there is no deployment.
    """
    required = f"this network, clock within {SKEW_FOR} s"
    if not found:
        none = fail("oracle", "no member is named", "give --oracle-url or set SWARM_ORACLE_URL")
        return (Check(line=none, required=required),)
    heard = any(not one.problem for one in found)
    lines = [_member(f"oracle.{place}", one, want, heard) for place, one in enumerate(found, 1)]
    return tuple(Check(line=line, required=required) for line in lines)


def _member(what: str, one: MemberSaid, want: Mapping[str, object], heard: bool) -> Line:
    if one.problem:
        fix = "ask its operator, or correct SWARM_ORACLE_URL"
        return (warn if heard else fail)(what, f"{one.name}: {one.problem}", fix)
    wrong = differing(one.said, want)
    if wrong:
        fix = "it works for another network or version: correct SWARM_ORACLE_URL, or upgrade"
        return fail(what, f"{one.name}: {', '.join(wrong)}", fix)
    epoch, state = (str(one.said.get(name))[:SHOWN] for name in ("epoch", "state"))
    found = f"{one.name}: epoch {epoch}, {state}, answers in {one.took_ms} ms"
    if one.ahead_s is None:
        return warn(what, f"{found}, names no time", "a proxy drops its Date header: ask its operator")
    found = f"{found}, clock {one.ahead_s:+d} s"
    if abs(one.ahead_s) > SKEW_FOR:
        return warn(what, found, "synchronise this machine's clock; if it is right, tell the member's operator")
    return ok(what, found)


def judge_mesh() -> Check:
    """Say that nothing can measure the mesh yet."""
    mesh = unknown("mesh", "this version has no mesh", "nothing: no part of this version needs one")
    return Check(line=mesh, required="up")


def judge_folder(found: File) -> Check:
    """Judge the folder of the node: others may not write into it, and it is this user's."""
    required = "mode 0700, owned by the node's user"
    if found.mode is None:
        return Check(line=warn("folder", f"{found.path} does not exist yet", REGISTER), required=required)
    if found.owner != found.reader:
        fix = f"run as that user (sudo -u '#{found.owner}'), or: chown -R {found.reader} {found.path}"
        line = fail("folder", f"{found.path} belongs to user {found.owner}, this is user {found.reader}", fix)
    elif found.mode & 0o022:
        line = fail("folder", _loose(found, "write"), f"chmod 700 {found.path}")
    elif others_may_use(found.mode):
        line = warn("folder", _loose(found, "read"), f"chmod 700 {found.path}")
    else:
        line = ok("folder", found.path)
    return Check(line=line, required=required)


def judge_secret(what: str, found: File) -> Check:
    """Judge a file with a secret: there, its owner's alone, and its owner is this user."""
    required = "mode 0600, owned by the node's user"
    if found.mode is None:
        return Check(line=warn(what, f"{found.path} does not exist yet", REGISTER), required=required)
    if others_may_use(found.mode):
        line = fail(what, _loose(found, "use"), f"chmod 600 {found.path}")
    elif found.owner != found.reader:
        fix = f"chown {found.reader} {found.path}, or run as its owner"
        line = fail(what, f"{found.path} belongs to user {found.owner}, this is user {found.reader}", fix)
    else:
        line = ok(what, found.path)
    return Check(line=line, required=required)


def judge_unlock(address: str, problem: str, fix: str) -> Check:
    """Judge whether the password opens the key."""
    line = fail("unlock", problem, fix or REGISTER) if problem else ok("unlock", f"opens the key of {address}")
    return Check(line=line, required="the password opens the key")


def judge_registration(view: ChainNodeView) -> Check:
    """Judge how the chain sees the node: a new node is fine for a doctor, one that can never earn again is not."""
    state, required = state_of(view, AgentSide()), "added to a provider in good standing"
    gone = f"provider {view.provider_id} {'is retired' if view.retired else 'has removed this node'}"
    said = {
        NodeState.NEW: warn("registration", "no provider has added this node", REGISTER),
        NodeState.REGISTERED: ok("registration", f"provider {view.provider_id}"),
        NodeState.MAINTENANCE: ok("registration", f"provider {view.provider_id}; in announced maintenance"),
        NodeState.SUSPENDED: warn(
            "registration", f"provider {view.provider_id} is suspended", "swarm slash list; it ends by itself"
        ),
        NodeState.EXCLUDED: fail("registration", f"provider {view.provider_id} is excluded", "swarm slash list"),
        NodeState.RETIRED: fail("registration", gone, next_command(NodeState.RETIRED, view)),
    }
    return Check(line=said[state], required=required)


def judge_stake(standing: Standing, stake: StakeParams) -> Check:
    """Judge the provider's stake against the minimum, and say what it covers above that, rounded down."""
    required = f"at least {format_swm(stake.minimum_wei)} SWM"
    if not standing.node.provider_id:
        return Check(line=unknown("stake", "the node has no provider", REGISTER), required=required)
    have = standing.active_stake_wei
    if have < stake.minimum_wei:
        missing = format_swm(Wei(stake.minimum_wei - have))
        line = fail("stake", f"{format_swm(have)} SWM", f"swarm stake add {missing}, with the owner's key")
    else:
        tops = (have - stake.minimum_wei) // stake.per_tops_wei
        line = ok("stake", f"{format_swm(have)} SWM; above the minimum it covers {tops} TOPS")
    return Check(line=line, required=required)


def judge_gas(address: str, balance_wei: int, reserve_wei: int) -> Check:
    """Judge whether the node key can pay for a defence."""
    required = f"{reserve_wei} wei (SWARM_RESERVE_WEI)"
    found = f"{balance_wei} wei"
    if balance_wei < reserve_wei:
        fix = f"send {reserve_wei - balance_wei} wei of the native coin to {address}"
        return Check(line=warn("gas", found, fix), required=required)
    return Check(line=ok("gas", found), required=required)


def _loose(found: File, what: str) -> str:
    return f"others may {what} {found.path} (mode {(found.mode or 0) & 0o777:03o})"
