"""The plan in words: nothing in it needs a calculator or an address book."""

import json

import pytest

from swarm_chain.abi import CONTRACTS
from swarm_chain.cli.output import jsonable
from swarm_chain.core.units import WEI_PER_SWM
from swarm_chain.deploy import plan_document
from swarm_chain.deploy.expected import Argument
from swarm_chain.deploy.words import duration, in_words, names_of
from tests.unit.swarm_chain.deploy.world import plan_of

PLAN = plan_of("mainnet")
NAMES = names_of(PLAN)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("unbondingFor", 1_209_600, "14 d"),
        ("moveFor", 43_200, "12 h"),
        ("vetoFor", 30, "30 s"),
        ("minDelay", 172_800, "2 d"),
        ("bountyBps", 1_000, "10.00 %"),
        ("slashBps", 1, "0.01 %"),
        ("bondWei", 1_000 * WEI_PER_SWM, "1,000 SWM"),
        ("cap", 10**9 * WEI_PER_SWM, "1,000,000,000 SWM"),
        ("genesisAt", 1_700_000_000, "2023-11-14 22:13:20 UTC"),
        ("emissionDecayRay", 999_500_000_000_000_000_000_000_000, "9995 / 10000 an epoch"),
        ("quorum", 5, "5"),
        ("token", PLAN.deployment.contracts["SwarmToken"], f"{PLAN.deployment.contracts['SwarmToken']} (SwarmToken)"),
    ],
)
def test_value_is_said_with_its_unit(name: str, value: object, words: str) -> None:
    assert in_words(Argument(name=name, kind="", value=value), NAMES) == words


def test_address_with_two_names_has_both() -> None:
    names = names_of(PLAN)

    assert names.shown(PLAN.roles.guardian) == f"{PLAN.roles.guardian} (guardian)"
    assert names.shown(PLAN.origin.deployer).endswith("(deployer)")


@pytest.mark.parametrize(("seconds", "words"), [(86_400, "1 d"), (90_000, "25 h"), (61, "61 s"), (120, "2 min")])
def test_duration_takes_the_largest_unit_that_divides(seconds: int, words: str) -> None:
    assert duration(seconds) == words


def test_document_names_every_contract_role_delay_and_window() -> None:
    document = json.loads(json.dumps(jsonable(plan_document(PLAN))))

    assert [item["name"] for item in document["contracts"]] == list(CONTRACTS)
    assert {item["address"] for item in document["contracts"]} == set(PLAN.deployment.contracts.values())
    assert document["transactions"] == len(PLAN.steps)
    roles = {item["role"]: item for item in document["roles"]}
    assert roles["GUARDIAN"]["holders"] == [PLAN.roles.guardian]
    assert "RewardSettlement.disableRoot" in roles["GUARDIAN"]["functions"]
    assert roles["ADMIN"]["holders"] == [PLAN.deployment.contracts["TimelockController"]]
    assert {item["words"] for item in document["delays"]} >= {"14 d", "13 d", "10 d", "7 d", "3 d", "2 d", "1 d"}
    assert all(window["haveFor"] >= window["needFor"] for window in document["windows"])
    assert {"contract": "StakeVault", "name": "MIN_UNBONDING", "value": 1_123_200, "words": "13 d"} in document[
        "immutables"
    ]
