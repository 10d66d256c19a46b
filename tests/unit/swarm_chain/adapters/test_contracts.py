"""Calldata, results, logs and reverts, judged by web3's own contract encoder."""

from typing import Any

import pytest
from eth_abi.abi import encode
from web3 import Web3
from web3.contract.contract import Contract

from swarm_chain.abi import CONTRACTS, load_artifact, load_errors
from swarm_chain.adapters.contracts import decode_log, decode_result, decode_revert, encode_call, function_selector
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InconsistentError, InvalidInputError
from swarm_chain.core.model import ContractCall
from swarm_chain.testing import FakeSigner

ALICE, BOB = FakeSigner("alice").address, FakeSigner("bob").address
LEAF = {"providerId": 1, "cumReward": 2, "cumPenalty": 3}


def _call(contract: str, function: str, *args: object) -> ContractCall:
    return ContractCall(contract=contract, function=function, args=args)


def _web3(contract: str) -> type[Contract]:
    made: type[Contract] = Web3().eth.contract(abi=list(load_artifact(contract).abi))
    return made


@pytest.mark.parametrize(
    ("contract", "function", "args"),
    [
        ("SwarmToken", "transfer", (BOB, 5)),
        ("ProviderRegistry", "register", (ALICE, BOB, 1, b"eu-west\0")),
        ("ProviderRegistry", "addNode", (1, BOB, 2**64, b"\1" * 65)),
        ("RewardSettlement", "settle", (0, LEAF, [b"\1" * 32, b"\2" * 32])),
        ("RewardSettlement", "settleMany", (0, [LEAF, LEAF], [b"\1" * 32], [True, False])),
        ("SlashingCourt", "answer", (b"\1" * 32, b"\2" * 32, "https://example.org/ü")),
    ],
)
def test_calldata_is_what_web3_makes(contract: str, function: str, args: tuple[object, ...]) -> None:
    assert "0x" + encode_call(_call(contract, function, *args)).hex() == _web3(contract).encode_abi(function, args)


def test_struct_as_sequence_and_as_mapping_in_any_order_is_the_same() -> None:
    reordered = dict(reversed(LEAF.items()))

    made = {encode_call(_call("RewardSettlement", "settle", 0, leaf, [])) for leaf in (LEAF, reordered, (1, 2, 3))}

    assert len(made) == 1


def test_constructor_is_creation_code_and_arguments() -> None:
    call = _call("ChallengeBeacon", "constructor", BOB)

    assert encode_call(call) == load_artifact("ChallengeBeacon").creation_code + encode(["address"], [BOB])


@pytest.mark.parametrize(
    "call",
    [
        _call("SwarmToken", "transfer", BOB),
        _call("SwarmToken", "transfer", BOB, -1),
        _call("SwarmToken", "transfer", BOB, 2**256),
        _call("SwarmToken", "transfer", BOB, True),
        _call("SwarmToken", "transfer", BOB, "5"),
        _call("SwarmToken", "transfer", "bob", 5),
        _call("JobEscrow", "complete", 1, b"\1" * 33),
        _call("RewardSettlement", "settle", 0, {"providerId": 1}, []),
        _call("RewardSettlement", "settle", 0, LEAF | {"extra": 1}, []),
        _call("RewardSettlement", "settle", 0, (1, 2), []),
        _call("RewardSettlement", "settle", 0, 7, []),
        _call("SwarmToken", "mintMore"),
        _call("Casino", "spin"),
    ],
)
def test_call_that_does_not_fit_the_abi_is_refused(call: ContractCall) -> None:
    with pytest.raises(InvalidInputError):
        encode_call(call)


def test_single_value_comes_as_it_is_and_several_as_a_dict() -> None:
    one = decode_result(_call("EpochOracle", "members"), encode(["address[]"], [[ALICE, BOB]]))
    two = decode_result(_call("StakeVault", "bucketAvailable", 1), encode(["uint256", "uint256"], [7, 8]))

    assert one == (ALICE, BOB)
    assert two == {"providerWei": 7, "globalWei": 8}


@pytest.mark.parametrize("data", [b"", b"\1" * 31])
def test_result_that_does_not_fit_the_abi_is_inconsistent(data: bytes) -> None:
    with pytest.raises(InconsistentError):
        decode_result(_call("EpochOracle", "quorum"), data)


def test_log_gives_indexed_and_plain_arguments_by_name() -> None:
    topics = [keccak(b"Transfer(address,address,uint256)"), encode(["address"], [ALICE]), encode(["address"], [BOB])]

    assert decode_log("SwarmToken", topics, encode(["uint256"], [5])) == (
        "Transfer",
        {"from": ALICE, "to": BOB, "value": 5},
    )


@pytest.mark.parametrize("topics", [[], [keccak(b"SomethingElse()")]])
def test_log_the_abi_does_not_declare_is_none(topics: list[bytes]) -> None:
    assert decode_log("SwarmToken", topics, b"") is None


SAMPLES: dict[str, Any] = {"address": ALICE, "bytes32": b"\7" * 32, "bytes4": b"\7" * 4, "string": "text"}


def test_every_custom_error_decodes_to_its_name_values_and_fix() -> None:
    for selector, entry in load_errors().items():
        kinds = [kind for _, kind in entry.inputs]
        data = selector + encode(kinds, [SAMPLES.get(kind, 7) for kind in kinds])

        error = decode_revert(data)

        assert (error.code, error.fix) == (entry.name, entry.fix)
        assert list(error.values) == [name for name, _ in entry.inputs]
        assert error.message.startswith(f"{entry.name}(")
        assert error.exit_code == 5


def test_large_integers_in_errors_are_text_so_that_json_keeps_them() -> None:
    (selector,) = [key for key, entry in load_errors().items() if entry.name == "InsufficientActiveStake"]

    error = decode_revert(selector + encode(["uint256", "uint256"], [2**53 - 1, 2**53]))

    assert error.values == {"have": 2**53 - 1, "want": str(2**53)}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (bytes.fromhex("08c379a0") + encode(["string"], ["too late"]), "too late"),
        (bytes.fromhex("4e487b71") + encode(["uint256"], [0x11]), "panic 0x11"),
        (bytes.fromhex("deadbeef") + bytes(32), "0xdeadbeef"),
        (b"", "reverted"),
        (bytes.fromhex("08c379a0") + b"\1", "reverted"),
        (next(key for key, entry in load_errors().items() if entry.inputs), "reverted"),
    ],
)
def test_other_reverts_are_shown_and_malformed_ones_do_not_break_the_decoder(data: bytes, words: str) -> None:
    assert words in decode_revert(data).message


def test_selectors_are_the_first_bytes_of_calldata() -> None:
    for name in CONTRACTS:
        for item in load_artifact(name).abi:
            if item["type"] == "function" and not item["inputs"]:
                assert encode_call(_call(name, item["name"])) == function_selector(name, item["name"])
