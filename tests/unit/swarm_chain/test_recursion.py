"""Nothing of ours lifts the recursion limit: with it lifted, a nested JSON text kills the process instead of being refused."""

import subprocess
import sys

import pytest

from swarm_chain.recursion import recursion_limit_kept
from swarm_chain.testing import FakeSigner

START = """
import json, sys
before = sys.getrecursionlimit()
"""
BOMB = """
assert sys.getrecursionlimit() == before, sys.getrecursionlimit()
try:
    json.loads("[" * 100_000)
except RecursionError:
    print("refused")
"""
USES = {
    "rpc": "from swarm_chain.adapters.rpc import RpcPool; RpcPool(['http://127.0.0.1:9'])",
    "keys": "from swarm_chain.adapters.keystore import KeySigner; KeySigner(bytes(31) + b'\\1')",
    "accounts": "from swarm_chain.devnet import dev_accounts; dev_accounts()",
    "fakes": "from swarm_chain.testing import FakeSigner; FakeSigner().sign_transaction(FIELDS)",
    "fields": "from swarm_chain.adapters.transaction import parse_fields; parse_fields(bytes.fromhex(RAW))",
}
FIELDS: dict[str, object] = {"type": 2, "chainId": 1, "nonce": 0, "gas": 21000, "value": 0, "data": b""}
FIELDS |= {"maxFeePerGas": 1, "maxPriorityFeePerGas": 1}


def _raw() -> str:
    return FakeSigner().sign_transaction(FIELDS).hex()


@pytest.mark.parametrize("use", USES)
def test_nested_json_is_refused_after_using_the_adapters(use: str) -> None:
    facts = f"FIELDS = {FIELDS!r}; RAW = {_raw()!r}\n"

    command = [sys.executable, "-c", START + facts + USES[use] + BOMB]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (answer.returncode, answer.stdout.strip()) == (0, "refused"), answer.stderr[-500:]


def _lifts_and_fails() -> None:
    with recursion_limit_kept():
        sys.setrecursionlimit(sys.getrecursionlimit() + 5)
        raise ValueError("inside")


def test_limit_is_put_back_also_after_an_error() -> None:
    before = sys.getrecursionlimit()

    with pytest.raises(ValueError, match="inside"):
        _lifts_and_fails()

    assert sys.getrecursionlimit() == before
