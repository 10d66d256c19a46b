"""Rewards through the command line: believed only when they lead to the root on chain."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.core.encoding import keccak
from swarm_chain.core.units import WEI_PER_SWM
from tests.chain_fixtures import ChainTools
from tests.integration.cli.conftest import CommandLine, Shelf
from tests.integration.cli.epochs import settle_epoch

SWM = WEI_PER_SWM
Document = dict[str, Any]


@pytest.fixture
def earned(
    connected: CommandLine, tools: ChainTools, alice: KeySigner, member: KeySigner, shelf: Shelf
) -> tuple[CommandLine, Document]:
    """Alice earned 70 SWM and owes 5, bob earned 30; the root is active and the shelf has the proofs."""
    tools.register(alice, stake_wei=1000 * SWM)
    tools.register(KeySigner(keccak(b"bob")), stake_wei=1000 * SWM)
    shelf.documents.update(settle_epoch(tools, member, [(70 * SWM, 5 * SWM), (30 * SWM, 0)], 100 * SWM))
    return connected, shelf.documents


def test_claim_pays_what_the_leaf_says(
    earned: tuple[CommandLine, Document], tools: ChainTools, alice: KeySigner, shelf: Shelf
) -> None:
    swarm, _ = earned
    before = tools.call("SwarmToken", "balanceOf", alice.address)

    shown = swarm.ask("--oracle-url", shelf.url, "rewards", "show")
    claimed = swarm.ask("--oracle-url", shelf.url, "rewards", "claim")

    assert (shown["claimableWei"], shown["dueFromStakeWei"]) == (str(65 * SWM), "0")
    assert claimed["paidWei"] == str(65 * SWM)
    assert tools.call("SwarmToken", "balanceOf", alice.address) == int(str(before)) + 65 * SWM


def test_claiming_twice_pays_once(earned: tuple[CommandLine, Document], tools: ChainTools, shelf: Shelf) -> None:
    swarm, _ = earned
    swarm.ask("--oracle-url", shelf.url, "rewards", "claim")
    sent = tools.reader.block("latest").number

    again = swarm.ask("--oracle-url", shelf.url, "rewards", "claim")

    assert again["claimed"] is False
    assert tools.reader.block("latest").number == sent


def test_anyone_may_claim_for_anyone(earned: tuple[CommandLine, Document], tools: ChainTools, shelf: Shelf) -> None:
    swarm, _ = earned
    bob = KeySigner(keccak(b"bob")).address
    before = tools.call("SwarmToken", "balanceOf", bob)

    swarm.ask("--oracle-url", shelf.url, "rewards", "claim", 2)

    assert tools.call("SwarmToken", "balanceOf", bob) == int(str(before)) + 30 * SWM


def test_min_net_leaves_small_claims_alone(earned: tuple[CommandLine, Document], shelf: Shelf) -> None:
    swarm, _ = earned

    left = swarm.ask("--oracle-url", shelf.url, "rewards", "claim", "--min-net", "65.000000000000000001")
    taken = swarm.ask("--oracle-url", shelf.url, "rewards", "claim", "--min-net", "65")

    assert (left["claimed"], taken["claimed"]) == (False, True)


def _more_reward(proof: Document) -> None:
    proof["leaf"]["cumRewardWei"] = str(71 * SWM)


def _less_penalty(proof: Document) -> None:
    proof["leaf"]["cumPenaltyWei"] = "0"


def _one_bit_of_the_path(proof: Document) -> None:
    proof["path"][0] = f"0x{int(proof['path'][0], 16) ^ 1:064x}"


def _longer_path(proof: Document) -> None:
    proof["path"].append(proof["path"][0])


def _empty_path(proof: Document) -> None:
    proof["path"] = []


def _another_root(proof: Document) -> None:
    proof["rootIndex"] += 1


def _another_provider(proof: Document) -> None:
    proof["leaf"]["providerId"] = 2


def _no_leaf(proof: Document) -> None:
    del proof["leaf"]


def _amount_beyond_uint128(proof: Document) -> None:
    proof["leaf"]["cumRewardWei"] = str(2**128)


def _path_of_numbers(proof: Document) -> None:
    proof["path"] = [1]


def _path_of_words(proof: Document) -> None:
    proof["path"] = ["up", "left"]


@pytest.mark.parametrize(
    "lie",
    [
        _more_reward,
        _less_penalty,
        _one_bit_of_the_path,
        _longer_path,
        _empty_path,
        _another_root,
        _another_provider,
        _no_leaf,
        _amount_beyond_uint128,
        _path_of_numbers,
        _path_of_words,
    ],
)
def test_lying_oracle_is_caught_before_anything_is_sent(
    earned: tuple[CommandLine, Document], tools: ChainTools, shelf: Shelf, lie: Callable[[Document], None]
) -> None:
    swarm, documents = earned
    place = next(name for name in documents if name.endswith("/proofs/1"))
    documents[place] = copy.deepcopy(documents[place])
    lie(documents[place])
    sent = tools.reader.block("latest").number

    refused = swarm.ask("--oracle-url", shelf.url, "rewards", "claim", code=70)

    assert refused["error"] == "proof_mismatch"
    assert tools.reader.block("latest").number == sent


def test_withdrawing_settles_the_newest_root_first(
    earned: tuple[CommandLine, Document], tools: ChainTools, shelf: Shelf, alice: KeySigner
) -> None:
    swarm, _ = earned
    swarm.ask("stake", "unbond", "--all")
    tools.net.warp(601)
    before = tools.call("SwarmToken", "balanceOf", alice.address)

    refused = swarm.ask("stake", "withdraw", code=3)
    swarm.ask("--oracle-url", shelf.url, "stake", "withdraw")

    assert refused["error"] == "no_oracle"
    assert tools.call("SwarmToken", "balanceOf", alice.address) == int(str(before)) + 1065 * SWM


def test_unknown_is_said_and_never_zero(earned: tuple[CommandLine, Document]) -> None:
    swarm, _ = earned

    without = swarm.ask("rewards", "show")
    down = swarm.ask("--oracle-url", "http://127.0.0.1:9", "rewards", "show")

    assert (without["claimableWei"], down["claimableWei"]) == (None, None)
    assert "no oracle is named" in without["unknownBecause"]
    assert "does not answer" in down["unknownBecause"]


def test_explain_shows_every_input(earned: tuple[CommandLine, Document], shelf: Shelf) -> None:
    swarm, _ = earned
    arrivals = [{"member": "0xone", "elapsedMs": 17}, {"member": "0xtwo", "elapsedMs": 19}]
    windows = [{"outcome": "passed", "mtops": None, "arrivals": arrivals}]
    inputs = {"leaf": {"cumRewardWei": "70"}, "windows": windows}
    shelf.documents["/v1/epochs/0/explain/1"] = inputs

    document = swarm.ask("--oracle-url", shelf.url, "rewards", "explain", "--epoch", 0)
    seen = swarm("--oracle-url", shelf.url, "rewards", "explain", "--epoch", 0)

    assert document == inputs
    assert "windows[0].mtops" in seen.out
    assert "windows[0].arrivals[1].elapsedMs" in seen.out
    assert "unknown" in seen.out


def test_provider_younger_than_the_root_has_nothing_to_claim(
    earned: tuple[CommandLine, Document], tools: ChainTools, shelf: Shelf
) -> None:
    swarm, _ = earned
    tools.register(KeySigner(keccak(b"carol")))

    refused = swarm.ask("--oracle-url", shelf.url, "rewards", "claim", 3, code=2)

    assert refused["error"] == "no_leaf"
