"""The golden files are what the core gives, and what independent encoders make of the inputs in them."""

import json
from pathlib import Path
from typing import Any

import pytest
from eth_abi.abi import encode
from eth_account import Account
from eth_account.messages import SignableMessage, encode_typed_data

from swarm_chain.core.encoding import keccak
from swarm_chain.core.merkle import verify
from tools import golden
from tools.golden.messages import eip712

FOLDER = Path(__file__).resolve().parents[3] / "golden"


def _load(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return document


def _bytes(text: str) -> bytes:
    return bytes.fromhex(text.removeprefix("0x"))


def test_committed_files_are_what_the_core_gives_now() -> None:
    assert golden.stale_files() == ()


def test_settlement_leaves_follow_from_their_fields_and_open_the_root() -> None:
    g = _load("settlement")
    domain = keccak(encode(["string", "uint256", "address"], [g["tag"], int(g["chainId"]), g["contract"]]))
    rows = zip(g["providerIds"], g["cumRewards"], g["cumPenalties"], strict=True)
    types = ["bytes32", "uint256", "uint128", "uint128"]

    leaves = [keccak(keccak(encode(types, [domain, *map(int, row)]))) for row in rows]

    assert _bytes(g["domain"]) == domain
    assert [_bytes(leaf) for leaf in g["leaves"]] == leaves
    for leaf, path in zip(leaves, g["paths"], strict=True):
        assert verify(_bytes(g["root"]), leaf, [_bytes(node) for node in path])
    assert verify(_bytes(g["loneRoot"]), leaves[0], [_bytes(node) for node in g["lonePath"]])


def test_outcome_leaves_follow_from_their_fields_and_open_the_root() -> None:
    g = _load("outcomes")
    names = ["providerId", "violationClass", "severity", "epoch", "offenceAt", "amount", "suspendedFor"]
    types = ["bytes32", "uint256", "uint8", "uint8", "uint32", "uint64", "uint128", "uint64", "bytes32"]
    violations, jobs = g["violations"], g["jobs"]
    rows = [
        encode(types, [_bytes(g["violationDomain"]), *(int(violations[name][i]) for name in names), evidence])
        for i, evidence in enumerate(map(_bytes, violations["evidenceHash"]))
    ]
    rows += [
        encode(
            ["bytes32", "uint256", "bytes32", "uint128"], [_bytes(g["jobDomain"]), int(job), _bytes(receipt), int(pay)]
        )
        for job, receipt, pay in zip(jobs["jobId"], jobs["receiptDigest"], jobs["pay"], strict=True)
    ]

    leaves = [keccak(keccak(row)) for row in rows]

    assert [_bytes(leaf) for leaf in g["leaves"]] == leaves
    for leaf, path in zip(leaves, g["paths"], strict=True):
        assert verify(_bytes(g["root"]), leaf, [_bytes(node) for node in path])


def test_report_hashes_are_abi_encodings_of_the_struct() -> None:
    g = _load("report")
    columns = {
        "epoch": "uint32",
        "refBlock": "uint64",
        "refBlockHash": "bytes32",
        "paramsVersion": "uint32",
        "root": "bytes32",
        "leafCount": "uint32",
        "totalReward": "uint128",
        "totalPenalty": "uint128",
        "outcomesRoot": "bytes32",
        "manifestHash": "bytes32",
    }

    for index, want in enumerate(g["hashes"]):
        texts = [g[name][index] for name in columns]
        values = [_bytes(text) if text.startswith("0x") else int(text) for text in texts]
        assert keccak(encode(list(columns.values()), values)) == _bytes(want)


@pytest.mark.parametrize("name", list(eip712()["types"]))
def test_signed_messages_are_eip712_for_eth_account_too(name: str) -> None:
    g = _load("eip712")
    place = "registry" if name == "NodeAdmission" else "beacon"
    domain = {"name": "Swarm", "version": "1", "chainId": int(g["chainId"]), "verifyingContract": g[place]}
    pairs = [part.split(" ") for part in g["types"][name].partition("(")[2].rstrip(")").split(",")]
    values = {
        key: int(text) if kind.startswith("uint") else text
        for kind, key in pairs
        for text in [g["messages"][name][key]]
    }
    members = [{"type": kind, "name": key} for kind, key in pairs]

    signable: SignableMessage = encode_typed_data(domain, {name: members}, values)

    assert keccak(b"\x19" + signable.version + signable.header + signable.body) == _bytes(g["digests"][name])
    assert Account.recover_message(signable, signature=g["signatures"][name]) == g["signer"]


def test_passed_commitments_lead_to_the_signed_root() -> None:
    g = _load("eip712")
    leaves = [keccak(keccak(_bytes(one))) for one in g["passed"]]
    signed = _bytes(g["messages"]["PassedVerdicts"]["passedRoot"])
    alone = b"".join(sorted((leaves[0], keccak(keccak(bytes(32))))))

    for leaf, path in zip(leaves, g["passedPaths"], strict=True):
        assert verify(signed, leaf, [_bytes(node) for node in path])
    assert len(leaves) == 3
    assert _bytes(g["passedAloneRoot"]) == keccak(alone)
    assert _bytes(g["passedNoneRoot"]) == bytes(32)


def test_challenge_seeds_are_abi_encodings() -> None:
    g = _load("challenge")
    seed = keccak(encode(["bytes32"] * 3, [_bytes(g[name]) for name in ("prevrandao", "previousBlockHash", "secret")]))
    draw = keccak(
        encode(["bytes32"] * 3, [_bytes(g[name]) for name in ("drawBlockHash", "windowSeed", "commitmentsRoot")])
    )
    tag = keccak(b"swarm.compute.weights.v1")
    types = ["bytes32", "uint256", "address", "uint256", "bytes32", "uint256"]
    shared = [tag, int(g["chainId"]), g["beacon"], int(g["windowId"]), seed, int(g["n"])]

    assert (_bytes(g["windowSeed"]), _bytes(g["drawSeed"])) == (seed, draw)
    assert int(g["seedW"]) == int.from_bytes(keccak(encode(types, shared))[:8], "big")


def test_drawn_rows_follow_from_the_seed_by_plain_counting() -> None:
    g = _load("challenge")
    prefix = [_bytes(g["drawSeed"]), g["node"], int(g["device"]), _bytes(g["root"])]
    rows: list[int] = []
    counter = 0
    while len(rows) < len(g["rows"]):
        drawn = keccak(encode(["bytes32", "address", "uint256", "bytes32", "uint256"], [*prefix, counter]))
        row = int.from_bytes(drawn, "big") % int(g["m"])
        counter += 1
        if row not in rows:
            rows.append(row)

    assert [int(row) for row in g["rows"]] == rows
