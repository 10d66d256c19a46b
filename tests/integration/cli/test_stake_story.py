"""A provider's stake, from key to withdrawal, through the command line on a real chain."""

from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.core.units import WEI_PER_SWM
from tests.chain_fixtures import ChainTools
from tests.integration.cli.conftest import CommandLine

UNBONDING_FOR = 600  # minimal preset


def test_stake_goes_in_and_comes_out_to_the_wei(connected: CommandLine, tools: ChainTools, alice: KeySigner) -> None:
    tools.fund(alice.address, swm=5000)

    registered = connected.ask("provider", "register", "--class", "gpu", "--region", "eu-west")
    added = connected.ask("stake", "add", "1500.5")
    asked = connected.ask("stake", "unbond", "500.5")
    before = connected.ask("stake", "status")
    tools.net.warp(UNBONDING_FOR + 1)
    taken = connected.ask("stake", "withdraw")

    assert registered["providerId"] == 1
    assert added["activeStakeWei"] == str(15005 * WEI_PER_SWM // 10)
    assert before["activeStakeWei"] == str(1000 * WEI_PER_SWM)
    assert before["thawingWei"] == str(5005 * WEI_PER_SWM // 10)
    assert [request["maturesAt"] for request in before["requests"]] == [asked["maturesAt"]]
    assert [item["amountWei"] for item in taken["withdrawn"]] == [str(5005 * WEI_PER_SWM // 10)]
    assert tools.call("SwarmToken", "balanceOf", alice.address) == 4000 * WEI_PER_SWM


def test_registering_twice_is_harmless(connected: CommandLine, tools: ChainTools, alice: KeySigner) -> None:
    tools.fund(alice.address)

    first = connected.ask("provider", "register")
    second = connected.ask("provider", "register")

    assert (first["registered"], second["registered"]) == (True, False)
    assert first["providerId"] == second["providerId"] == tools.call("ProviderRegistry", "providerCount")


def test_staking_is_one_transaction_because_of_the_permit(
    connected: CommandLine, tools: ChainTools, alice: KeySigner
) -> None:
    tools.register(alice)
    sent = _nonce(tools, alice)

    connected.ask("stake", "add", "1000")

    assert _nonce(tools, alice) == sent + 1
    assert tools.call("SwarmToken", "allowance", alice.address, tools.address("StakeVault")) == 0


def test_an_allowance_left_by_an_interrupted_run_is_used(
    connected: CommandLine, tools: ChainTools, alice: KeySigner
) -> None:
    tools.register(alice)
    tools.send(alice, "SwarmToken", "approve", tools.address("StakeVault"), 1000 * WEI_PER_SWM)

    connected.ask("stake", "add", "1000")

    assert tools.call("SwarmToken", "allowance", alice.address, tools.address("StakeVault")) == 0
    assert tools.call("StakeVault", "activeStake", 1) == 1000 * WEI_PER_SWM


def test_cancelled_request_is_stake_again(connected: CommandLine, tools: ChainTools, alice: KeySigner) -> None:
    tools.register(alice, stake_wei=1000 * WEI_PER_SWM)
    request = connected.ask("stake", "unbond", "--all")

    connected.ask("stake", "cancel", request["requestId"])
    status = connected.ask("stake", "status", 1)

    assert status["activeStakeWei"] == str(1000 * WEI_PER_SWM)
    assert status["requests"] == []


def test_requests_are_found_when_older_ones_are_gone(
    connected: CommandLine, tools: ChainTools, alice: KeySigner
) -> None:
    tools.register(alice, stake_wei=1000 * WEI_PER_SWM)
    for amount in (10, 20, 30):
        connected.ask("stake", "unbond", amount)
    connected.ask("stake", "cancel", 1)

    requests = connected.ask("stake", "status")["requests"]

    assert [request["requestId"] for request in requests] == [0, 2]


def test_nothing_leaves_before_it_matures(connected: CommandLine, tools: ChainTools, alice: KeySigner) -> None:
    tools.register(alice, stake_wei=1000 * WEI_PER_SWM)
    connected.ask("stake", "unbond", 10)

    refused = connected.ask("stake", "withdraw", code=2)
    insisted = connected.ask("stake", "withdraw", 0, code=5)

    assert refused["error"] == "nothing_matured"
    assert insisted["error"] == "NotMatured"
    assert set(insisted["values"]) == {"maturesAt", "nowAt"}


def test_calendar_names_the_unlock_second(connected: CommandLine, tools: ChainTools, alice: KeySigner) -> None:
    tools.register(alice, stake_wei=1000 * WEI_PER_SWM)
    request = connected.ask("stake", "unbond", 10)

    connected.ask("stake", "calendar", "--ics", connected.home / "stake.ics")
    text = (connected.home / "stake.ics").read_bytes().decode()

    assert f"UID:swarm-1-0-{request['maturesAt']}\r\n" in text
    assert "SUMMARY:10.0000 SWM of provider 1 can be withdrawn\r\n" in text


def test_payout_change_waits_and_retirement_is_for_good(
    connected: CommandLine, tools: ChainTools, alice: KeySigner
) -> None:
    tools.register(alice)
    other = tools.net.accounts[5].address

    queued = connected.ask("provider", "set-payout", other)
    shown = connected.ask("provider", "show")
    connected.ask("provider", "retire")

    assert (shown["payout"], shown["pendingPayout"]) == (alice.address, other)
    assert shown["pendingPayoutAt"] == queued["effectiveAt"]
    assert connected.ask("provider", "show", 1)["retired"] is True


def _nonce(tools: ChainTools, signer: KeySigner) -> int:
    return int(tools.net.rpc.request("eth_getTransactionCount", [signer.address, "latest"]), 16)
