"""Judgements of the preflight: from what was measured to ok, warn or fail, and what to do about it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from swarm_chain.core.checkup import Level, Line, Room, differing, fail, judge_room, ok, others_may_use, warn
from swarm_chain.core.units import Address

GIB = 2**30
LEAST_FREE_BYTES, GOOD_FREE_BYTES = GIB, 10 * GIB
LEAST_FILES, GOOD_FILES = 1_024, 8_192  # the service takes 4,096 connections
LEAST_EPOCHS, GOOD_EPOCHS = 1, 30
# Four transactions a window, a vote and a report (docs/gas.md), doubled: a leader's epoch with every case it carries out.
GAS_PER_EPOCH = 1_500_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """What one chain endpoint answered; `problem` is empty if it answered everything."""

    name: str
    chain_id: int = 0
    latest: int = 0
    finalized: int | None = None
    checkpoint_hash: str = ""  # of a block all endpoints have
    has_archive: bool = False
    problem: str = ""


def judge_endpoints(found: Sequence[Endpoint], chain_id: int, agree: int) -> tuple[Line, ...]:
    """Judge the chain endpoints one by one, and whether enough of them tell the same chain.

    Args:
        found: what each answered.
        chain_id: the deployment's.
        agree: how many must agree.
    """
    lines = tuple(_judge_endpoint(endpoint, chain_id) for endpoint in found)
    sound = [one for one, line in zip(found, lines, strict=True) if line.level is not Level.FAIL]
    votes = [one.checkpoint_hash for one in sound]
    most = max((votes.count(one) for one in votes), default=0)
    said = f"{most} of {len(found)} show the same block, {agree} must"
    if most < agree:
        return (*lines, fail("rpc agreement", said, "repair or replace the endpoints above, or lower SWARM_RPC_AGREE"))
    if most < len(found):
        return (*lines, warn("rpc agreement", said, "one more fault stops this member: repair the endpoints above"))
    return (*lines, ok("rpc agreement", said))


def _judge_endpoint(one: Endpoint, chain_id: int) -> Line:
    what = f"rpc {one.name}"
    if one.problem:
        return fail(what, one.problem, "start it, or name another endpoint in SWARM_RPC_URL")
    if one.chain_id != chain_id:
        return fail(what, f"serves chain {one.chain_id}, not {chain_id}", "name an endpoint of the deployment's chain")
    if one.finalized is None:
        return fail(what, "knows no final block", "use an endpoint that serves the tag finalized")
    if not one.has_archive:
        fix = "use an archive endpoint: a member that catches up asks for the state at past blocks"
        return warn(what, "does not serve the state at the deployment's block", fix)
    return ok(what, f"block {one.latest}, final {one.finalized}")


def judge_code(foreign: Sequence[str], total: int) -> Line:
    """Judge the contracts: `foreign` names those whose code is not the one of this version."""
    if foreign:
        return fail("contracts", f"{', '.join(foreign)}: no code, or other code than ours", "check --deployment")
    return ok("contracts", f"{total} contracts have the code of this version")


def judge_committee(members: Sequence[Address], quorum: int, want: tuple[int, int]) -> Line:
    """Judge size and quorum against the preset; they are governance's to change, so a difference is only said."""
    found = f"quorum {quorum} of {len(members)}"
    if not len(members) < 2 * quorum <= 2 * len(members):
        return fail("committee", found, "no quorum above half: warn the timelock's proposers")
    if (len(members), quorum) != want:
        return warn("committee", found, f"the preset has {want[1]} of {want[0]}: check that governance meant it")
    return ok("committee", found)


def judge_balance(balance_wei: int, gas_price_wei: int) -> Line:
    """Judge how long the key can pay for gas at the price of the day."""
    epochs = epochs_of_gas(balance_wei, gas_price_wei)
    found = f"{balance_wei} wei, about {epochs} epochs of gas at {gas_price_wei} wei"
    remedy = f"send native coin: {GOOD_EPOCHS} epochs need {GOOD_EPOCHS * GAS_PER_EPOCH * gas_price_wei} wei"
    if epochs < LEAST_EPOCHS:
        return fail("balance", found, remedy)
    return warn("balance", found, remedy) if epochs < GOOD_EPOCHS else ok("balance", found)


def epochs_of_gas(balance_wei: int, gas_price_wei: int) -> int:
    """Count the epochs a balance pays for, rounded down."""
    return balance_wei // (GAS_PER_EPOCH * max(gas_price_wei, 1))


def judge_seat(address: Address, members: Sequence[Address], voices: bool) -> Line:
    """Judge whether the key may vote: as a member, or as a member's reporter (`voices`: EpochOracle.isMember)."""
    if address in members:
        return ok("seat", f"{address} is a member")
    if voices:
        return ok("seat", f"{address} reports for a member")
    return warn("seat", f"{address} is no member", "its votes are refused until governance adds it (addMember)")


def judge_file(what: str, path: str, mode: int) -> Line:
    """Judge the mode of a file that holds a secret: its owner alone may read it."""
    if others_may_use(mode):
        return warn(what, f"{path} may be read by others (mode {mode & 0o777:03o})", f"chmod 600 {path}")
    return ok(what, path)


def judge_disk(free_bytes: int, folder: str) -> Line:
    """Judge the room left where the database is."""
    room = Room(folder=folder, free_bytes=free_bytes, least_bytes=LEAST_FREE_BYTES, good_bytes=GOOD_FREE_BYTES)
    return judge_room("disk", room, f"make room, or move the database: {GOOD_FREE_BYTES // GIB} GiB are comfortable")


def judge_files(limit: int) -> Line:
    """Judge how many files (and connections) the process may have open."""
    found, remedy = f"{limit} open files allowed", f"raise it to {GOOD_FILES}: ulimit -n, or LimitNOFILE= in systemd"
    if limit < LEAST_FILES:
        return fail("files", found, remedy)
    return warn("files", found, remedy) if limit < GOOD_FILES else ok("files", found)


def judge_revision(have: str | None, want: str, known: Sequence[str]) -> Line:
    """Judge the schema of the database by its revision; None before the first start."""
    if have is None:
        return ok("schema", f"none yet: `run` makes revision {want}")
    if have == want:
        return ok("schema", f"revision {have}")
    if have in known:
        return warn("schema", f"revision {have}, this version has {want}", "back it up: `run` brings it up to date")
    return fail(
        "schema", f"revision {have} is of another version", "install the version that wrote it, or name another"
    )


def judge_peer(name: str, problem: str, said: Mapping[str, object], want: Mapping[str, object]) -> Line:
    """Judge another member: silence is its own affair, another chain or other params are everybody's.

    Args:
        name: where it is.
        problem: why it did not answer, empty if it did.
        said: its status.
        want: fields its status must have.
    """
    if problem:
        return warn(f"peer {name}", problem, "ask its operator, or correct SWARM_ORACLE_PEERS")
    wrong = differing(said, want)
    if wrong:
        return fail(f"peer {name}", ", ".join(wrong), "it works for another network or version: upgrade together")
    return ok(f"peer {name}", f"epoch {said.get('epoch')}, {said.get('state')}")
