"""Why no work comes, as sentences; what explains everything behind it comes first. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from node.doctor.checks import Check, blocking
from node.doctor.facts import Standing
from node.model import JobOffer, OwnCommitment
from node.standing import AgentSide, NodeState, next_command, state_of
from node.status import MemberView
from swarm_chain.core.checkup import Level
from swarm_chain.core.kinds import JobState, WindowState
from swarm_chain.core.model import WindowRecord
from swarm_chain.core.units import Timestamp, Wei, WindowId, format_swm

OVER = (WindowState.CLOSED, WindowState.DRAWN)
SHOWN = 5  # windows named one by one
BUSY_PERCENT = 150  # of all cores: more programs want to run than can
# Rows of the doctor that a reason of its own tells better.
_TOLD = ("rpc", "deployment", "oracle", "registration", "stake", "clock")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """One sentence with a stable code and the next command."""

    code: str
    sentence: str
    next: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainSide:
    """What the chain shows: `added_at` is when the node was added, unix s, zero if that is longer ago than was read."""

    standing: Standing
    minimum_wei: Wei
    windows: tuple[WindowRecord, ...] = ()
    offers: tuple[JobOffer, ...] = ()
    added_at: Timestamp = Timestamp(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """Everything the sentences are made from; `load_percent` is the machine's load, 100 when every core has one program."""

    has_key: bool
    chain: ChainSide | None
    chain_problem: str = ""
    is_running: bool = False
    members: tuple[MemberView, ...] = ()
    commitments: tuple[OwnCommitment, ...] = ()
    own_jobs: tuple[str, ...] = ()
    takes_jobs: bool = False
    load_percent: int = 0
    checks: tuple[Check, ...] = ()


def why_idle(found: Situation) -> tuple[Reason, ...]:
    """The reasons, the one that explains the others first; empty if nothing keeps work away.

    Args:
        found: the situation.
    """
    if not found.has_key:
        return (_reason("no_key", "This machine has no node key yet.", "swarm node register"),)
    return (*_standing(found), *_agent(found), *_oracle(found), *_clock(found), *_work(found), *_doctor(found))


def missed_windows(found: Situation) -> tuple[tuple[WindowId, str], ...]:
    """Windows since the node was added that brought it nothing, newest first, and why as far as this machine knows."""
    if found.chain is None:
        return ()
    since = found.chain.added_at
    over = [window for window in found.chain.windows if window.state in OVER and window.opened_at >= since]
    told = ((window, _why_missed(window, found)) for window in sorted(over, key=lambda w: -w.window_id))
    return tuple((window.window_id, why) for window, why in told if why)


def _why_missed(window: WindowRecord, found: Situation) -> str:
    own = [one for one in found.commitments if _answers(one, window)]
    if not own:
        return "no run was committed in time" if found.is_running else "the agent does not run"
    if not any(one.delivered for one in own):
        return "no oracle member took the commitment"
    if window.state is WindowState.DRAWN and not any(one.opened for one in own):
        return "its drawn rows were not opened yet"
    return ""


def _answers(own: OwnCommitment, window: WindowRecord) -> bool:
    commitment = own.signed.commitment
    return (commitment.window_id, commitment.window_seed) == (window.window_id, window.window_seed)


def _standing(found: Situation) -> Iterator[Reason]:
    if found.chain is None:
        sentence = f"The chain cannot be asked: {found.chain_problem}."
        yield _reason("chain_unreachable", sentence, "swarm node doctor")
        return
    standing, minimum_wei = found.chain.standing, found.chain.minimum_wei
    state, provider = state_of(standing.node, AgentSide()), standing.node.provider_id
    gone = f"Provider {provider} {'is retired' if standing.node.retired else 'has removed this node'}."
    sentences = {
        NodeState.NEW: ("not_registered", "No provider has added this node."),
        NodeState.SUSPENDED: (
            "suspended",
            f"Provider {provider} is suspended until {standing.node.suspended_until} (unix s).",
        ),
        NodeState.EXCLUDED: ("excluded", f"Provider {provider} is excluded for good."),
        NodeState.RETIRED: ("retired", gone),
        NodeState.MAINTENANCE: (
            "maintenance",
            f"It is in announced maintenance until {standing.node.maintenance_ends_at} (unix s).",
        ),
    }
    if state in sentences:
        follow = "swarm node register" if state is NodeState.NEW else next_command(state, standing.node)
        yield _reason(*sentences[state], follow)
    if provider and standing.active_stake_wei < minimum_wei:
        missing = Wei(minimum_wei - standing.active_stake_wei)
        have, least = format_swm(standing.active_stake_wei), format_swm(minimum_wei)
        sentence = f"The provider's stake of {have} SWM is below the minimum of {least} SWM."
        yield _reason("stake_below_minimum", sentence, f"swarm stake add {format_swm(missing)}")


def _agent(found: Situation) -> Iterator[Reason]:
    if not found.is_running:
        yield _reason("agent_not_running", "No agent runs here.", "swarm node run")


def _oracle(found: Situation) -> Iterator[Reason]:
    away = [member for member in found.members if member.error]
    if not found.members:
        yield _reason("no_oracle", "No oracle member is named.", "swarm node run --oracle-url URL")
    elif len(away) == len(found.members):
        sentence = f"No oracle member answers: {away[0].error}."
        yield _reason("oracle_unreachable", sentence, "swarm node doctor")
    elif not any(member.plans for member in found.members):
        sentence = "No oracle member has a plan for this node yet: one comes with the epoch after it was added."
        yield _reason("no_plan", sentence, "swarm node status")


def _clock(found: Situation) -> Iterator[Reason]:
    off = [check for check in found.checks if check.id == "clock.chain" and check.line.level is Level.WARN]
    for check in off:
        yield _reason("clock_off", f"The clocks disagree: {check.line.found}.", check.line.remedy)


def _work(found: Situation) -> Iterator[Reason]:
    missed = missed_windows(found)
    if missed:
        shown = "; ".join(f"{number}: {why}" for number, why in missed[:SHOWN])
        more = f", and {len(missed) - SHOWN} more" if len(missed) > SHOWN else ""
        follow = "read run_failed, run_discarded and step_failed in the agent's log"
        yield _reason("missed_windows", f"It missed {len(missed)} windows ({shown}{more}).", follow)
    if found.own_jobs:
        yield _reason("device_busy", f"It works on job {', '.join(found.own_jobs)}.", "swarm node status")
    elif found.load_percent >= BUSY_PERCENT:
        sentence = f"Other programs use the machine: its load is {found.load_percent} % of its cores."
        yield _reason("device_busy", sentence, "end them, or lower SWARM_THREADS")
    if not found.own_jobs:
        yield from _jobs(found)


def _jobs(found: Situation) -> Iterator[Reason]:
    if not found.takes_jobs:
        yield _reason("jobs_not_taken", "It takes no customers' jobs.", "swarm node run --jobs")
    elif found.chain is not None and not any(_is_open(offer, found.chain) for offer in found.chain.offers):
        yield _reason("no_jobs", "No job is on the board.", "swarm job list")


def _is_open(offer: JobOffer, chain: ChainSide) -> bool:
    return offer.state is JobState.POSTED and chain.standing.node.now < offer.accept_by


def _doctor(found: Situation) -> Iterator[Reason]:
    rows: Iterable[Check] = blocking(found.checks)
    for check in rows:
        if check.id.split(".")[0] not in _TOLD:
            yield _reason("doctor_blocks", f"The doctor's {check.id} blocks: {check.line.found}.", check.line.remedy)


def _reason(code: str, sentence: str, follow: str) -> Reason:
    return Reason(code=code, sentence=sentence, next=follow)
