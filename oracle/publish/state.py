"""Bytes of the state an epoch hands to the next one."""

from oracle.economy import Supply
from oracle.model import EpochState, PastViolation, Plan
from oracle.publish import fields as f
from oracle.publish.json_codec import MAX_DEVICE
from swarm_chain.core.compute import MAX_M, MAX_N, MAX_STEPS
from swarm_chain.core.encoding import address_bytes, canonical_json, to_hex
from swarm_chain.core.kinds import Category, Severity, ViolationClass
from swarm_chain.core.units import EpochNumber, JobId, ProviderId, Wei

_FIELDS = (
    *("epoch", "carryWei", "grossWei", "cleanEpochs", "supply", "classes"),
    *("violations", "plans", "plansBefore", "jobs"),
)
REGION_BYTES, MAX_CLASS = 8, 255
_ORDER = {category: place for place, category in enumerate(Category)}


def state_bytes(state: EpochState) -> bytes:
    """Canonical JSON of an epoch's state (protocol.md, Documents of an epoch)."""
    return canonical_json(
        {
            "epoch": state.epoch,
            "carryWei": str(state.carry_wei),
            "grossWei": [[provider_id, str(amount)] for provider_id, amount in state.gross_wei],
            "cleanEpochs": [list(counted) for counted in state.clean_epochs],
            "supply": [[s.category, to_hex(s.region), s.hardware_class, str(s.units)] for s in state.supply],
            "classes": [list(seen) for seen in state.classes],
            "violations": [[v.provider_id, int(v.violation_class), int(v.severity), v.epoch] for v in state.violations],
            "plans": [_plan_row(p) for p in state.plans],
            "plansBefore": [_plan_row(p) for p in state.plans_before],
            "jobs": list(state.jobs),
        }
    )


def parse_state(data: bytes) -> EpochState:
    """Read what `state_bytes` wrote.

    Raises:
        InvalidInputError: anything else, or lists that are not ordered.
    """
    s = f.fields(f.load_canonical(data, "state"), "state", *_FIELDS)
    state = EpochState(
        epoch=EpochNumber(f.integer(s["epoch"], "state.epoch", f.UINT32_MAX)),
        carry_wei=f.wei(s["carryWei"], "state.carryWei"),
        gross_wei=f.rows(s["grossWei"], "state.grossWei", _read_gross),
        clean_epochs=f.rows(s["cleanEpochs"], "state.cleanEpochs", _read_clean),
        supply=f.rows(s["supply"], "state.supply", _read_supply),
        classes=f.rows(s["classes"], "state.classes", _read_class),
        violations=f.rows(s["violations"], "state.violations", _read_violation),
        plans=f.rows(s["plans"], "state.plans", _read_plan),
        plans_before=f.rows(s["plansBefore"], "state.plansBefore", _read_plan),
        jobs=tuple(JobId(job_id) for job_id in f.rows(s["jobs"], "state.jobs", f.integer)),
    )
    _require_ordered(state)
    return state


def _require_ordered(state: EpochState) -> None:
    f.require_ascending(((provider_id,) for provider_id, _ in state.gross_wei), "state.grossWei")
    f.require_ascending(((provider_id,) for provider_id, _ in state.clean_epochs), "state.cleanEpochs")
    f.require_ascending(((_ORDER[s.category], s.region, s.hardware_class) for s in state.supply), "state.supply")
    f.require_ascending(((hardware_class,) for hardware_class, _ in state.classes), "state.classes")
    keys = ((v.provider_id, v.violation_class, v.epoch) for v in state.violations)
    f.require_ascending(keys, "state.violations")
    f.require_ascending(map(_plan_key, state.plans), "state.plans")
    f.require_ascending(map(_plan_key, state.plans_before), "state.plansBefore")
    f.require_ascending(((job_id,) for job_id in state.jobs), "state.jobs")


def _read_gross(value: object, where: str) -> tuple[ProviderId, Wei]:
    provider_id, amount = f.row(value, where, 2)
    return ProviderId(f.integer(provider_id, where)), f.wei(amount, where)


def _read_clean(value: object, where: str) -> tuple[ProviderId, int]:
    provider_id, epochs = f.row(value, where, 2)
    return ProviderId(f.integer(provider_id, where)), f.integer(epochs, where, f.UINT32_MAX, 1)


def _read_supply(value: object, where: str) -> Supply:
    category, region, hardware_class, units = f.row(value, where, 4)
    return Supply(
        category=Category(f.choice(category, where, Category)),
        region=f.raw(region, where, REGION_BYTES),
        hardware_class=f.integer(hardware_class, where, MAX_CLASS),
        units=f.wei(units, where),
    )


def _read_class(value: object, where: str) -> tuple[int, EpochNumber]:
    hardware_class, epoch = f.row(value, where, 2)
    return f.integer(hardware_class, where, MAX_CLASS), EpochNumber(f.integer(epoch, where, f.UINT32_MAX))


def _read_violation(value: object, where: str) -> PastViolation:
    provider_id, violation_class, severity, epoch = f.row(value, where, 4)
    return PastViolation(
        provider_id=ProviderId(f.integer(provider_id, where)),
        violation_class=ViolationClass(f.integer(violation_class, where, max(ViolationClass), min(ViolationClass))),
        severity=Severity(f.integer(severity, where, max(Severity), min(Severity))),
        epoch=EpochNumber(f.integer(epoch, where, f.UINT32_MAX)),
    )


def _plan_row(plan: Plan) -> list[object]:
    return [plan.node, plan.device, plan.m, plan.n, plan.steps]


def _plan_key(plan: Plan) -> tuple[bytes, int]:
    return address_bytes(plan.node), plan.device


def _read_plan(value: object, where: str) -> Plan:
    node, device, m, n, steps = f.row(value, where, 5)
    return Plan(
        node=f.address(node, where),
        device=f.integer(device, where, MAX_DEVICE),
        m=f.integer(m, where, MAX_M),
        n=f.integer(n, where, MAX_N),
        steps=f.integer(steps, where, MAX_STEPS, 1),
    )
