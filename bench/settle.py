"""Tree of a settlement of many providers, against OpenZeppelin's JavaScript library on fewer, leaf for leaf."""

import argparse
import json
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

from _report import Result, print_report

from swarm_chain.core.encoding import SETTLEMENT_LEAF_TYPES, SETTLEMENT_TAG, keccak, leaf_domain, to_hex, words
from swarm_chain.core.merkle import build_tree, leaf_hashes, root
from swarm_chain.core.units import Address

SCRIPT = Path(__file__).with_name("merkle_oz.mjs")
DOMAIN = leaf_domain(SETTLEMENT_TAG, 31337, Address("0x70997970C51812dc3A010C7d01b50e0d17dc79C8"))


def leaf_values(count: int) -> Iterator[tuple[int, int, int]]:
    """Provider id, cumulative reward and cumulative penalty in wei, of the size they have after some years."""
    for index in range(count):
        amount = int.from_bytes(keccak(index.to_bytes(4, "big"))[:11], "big")
        yield index + 1, amount, amount // 50


def tree_of(encoded: list[bytes]) -> tuple[bytes, float]:
    """Tree over encoded leaves, and the seconds from them to the root."""
    started = perf_counter()
    tree = build_tree(leaf_hashes(encoded))
    return tree, perf_counter() - started


def encode(count: int) -> tuple[list[bytes], float]:
    """Encoded leaves, and the seconds it took."""
    values = list(leaf_values(count))
    started = perf_counter()
    encoded = [words(DOMAIN, *value) for value in values]
    return encoded, perf_counter() - started


def javascript(count: int) -> tuple[str, float]:
    """Root and seconds of OpenZeppelin's library, encoding included as it does both at once."""
    program = shutil.which("node")
    if program is None:
        sys.exit("Node.js is not on PATH: run `make install`")
    values = [[to_hex(DOMAIN), *map(str, value)] for value in leaf_values(count)]
    question = json.dumps({"values": values, "types": SETTLEMENT_LEAF_TYPES})
    done = subprocess.run([program, str(SCRIPT)], input=question, capture_output=True, text=True, check=True)
    answer = json.loads(done.stdout)
    return answer["root"], answer["nanoseconds"] / 1e9


def per_leaf(name: str, seconds: float, count: int, js_each: float, goal: float | None = 40) -> Result:
    """A figure in microseconds a leaf against the JavaScript library's, which encodes, hashes and builds in one."""
    each = seconds / count
    return Result(name=name, value=each * 1e6, unit="us/leaf", baseline=js_each * 1e6, ratio=js_each / each, goal=goal)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--providers", type=int, default=1_000_000)
    parser.add_argument("--js-leaves", type=int, default=100_000)
    options = parser.parse_args()
    few, many = options.js_leaves, options.providers

    js_root, js_s = javascript(few)
    small_tree, small_s = tree_of(encode(few)[0])
    assert to_hex(root(small_tree)) == js_root, "the two libraries give different roots"
    encoded, encoding_s = encode(many)
    _, tree_s = tree_of(encoded)

    js_each = js_s / few
    results = [
        per_leaf(f"tree of {many} leaves", tree_s, many, js_each),
        per_leaf(f"tree of {few} leaves, same root", small_s, few, js_each),
        per_leaf(f"encoding and tree of {many} leaves", encoding_s + tree_s, many, js_each, goal=None),
        Result(name=f"tree of {many} leaves", value=tree_s, unit="s"),
        Result(name="peak memory", value=_peak_mib(), unit="MiB", goal=2048),
    ]
    print_report("settle", results)


def _peak_mib() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


if __name__ == "__main__":
    main()
