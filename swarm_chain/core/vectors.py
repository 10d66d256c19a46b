"""Check of a compute-proof vector document: every value in it is computed again and compared as text.

A document has a `splitmix64` part and `cases`; each case gives the inputs of a run and every intermediate value from
the seeds to the path of the first drawn row. Format: the vectors that come with compute-proof.md.
"""

import json
from collections.abc import Iterator, Mapping

import numpy as np

from swarm_chain.core.compute import (
    HEAD_BYTES,
    ComputeChallenge,
    ComputeShape,
    ComputeWindow,
    commitment_tree,
    digest,
    draw_rows,
    seed_w,
    seed_x,
)
from swarm_chain.core.encoding import address_bytes, checksum_address, hash_from_hex, to_hex
from swarm_chain.core.errors import InvalidInputError, SwarmError
from swarm_chain.core.merkle import path, root
from swarm_chain.core.rowchain import Int8Matrix, input_rows, run_rows, splitmix64, step, weight_column, weights
from swarm_chain.core.units import UINT64_MAX, Address, Hash32, WindowId

_INPUTS = frozenset(
    ("chainId", "beacon", "windowId", "windowSeed", "node", "device", "m", "n", "steps", "drawSeed", "draws")
)
_OUTPUTS = ("seedX", "seedW", "x0Row0", "weightColumn0", "row0AfterEachStep", "digest0", "root", "rows", "opening")
# Numpy does about 10^11 operations a second here; a file must not keep a machine busy for hours.
_MAX_OPERATIONS = 2**43
_MAX_MATRIX_BYTES = 2**28
_MAX_WORDS, _MAX_CASES = 10_000, 1000


def check_vector_text(text: str) -> tuple[str, ...]:
    """Check the text of a vector file.

    Args:
        text: JSON.

    Returns:
        One line per value that is wrong; empty if the file is right.

    Raises:
        InvalidInputError: not JSON, or not a vector document.
    """
    try:
        document = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise _malformed(f"the file is not JSON: {error}") from error
    return check_vectors(document)


def check_vectors(document: object) -> tuple[str, ...]:
    """Check a vector document.

    Args:
        document: what `json.loads` gave.

    Returns:
        One line per value that is wrong, naming it, what the document says and what is right.

    Raises:
        InvalidInputError: a part is missing, unknown or of the wrong kind, or a run is too large to repeat;
            its exit code is that of a failed check.
    """
    parts = _object(document, frozenset(("splitmix64", "cases")), "document")
    cases = _list(parts["cases"], "cases", _MAX_CASES)
    wrong = list(_splitmix_mismatches(_object(parts["splitmix64"], frozenset(("seed", "first")), "splitmix64")))
    for number, case in enumerate(cases):
        where = f"cases[{number}]"
        wrong.extend(_case_mismatches(_object(case, _INPUTS.union(_OUTPUTS), where), where))
    return tuple(wrong)


def _splitmix_mismatches(part: Mapping[str, object]) -> Iterator[str]:
    said = _list(part["first"], "splitmix64.first", _MAX_WORDS)
    seed = _integer(part["seed"], "splitmix64.seed")
    if seed > UINT64_MAX:
        raise _malformed("splitmix64.seed does not fit 64 bits")
    actual = [str(word) for word in splitmix64(seed, np.arange(len(said), dtype=np.uint64)).tolist()]
    yield from _differences("splitmix64.first", said, actual)


def _case_mismatches(case: Mapping[str, object], where: str) -> Iterator[str]:
    try:
        challenge = _challenge(case, where)
        draw_seed = hash_from_hex(_text(case["drawSeed"], f"{where}.drawSeed"))
        actual = _answers(challenge, draw_seed, _integer(case["draws"], f"{where}.draws"))
    except SwarmError as error:
        raise _malformed(f"{where}: {error.message}", error.fix) from error
    for name, address in (("beacon", challenge.window.beacon), ("node", challenge.node)):
        yield from _differences(f"{where}.{name}", address, checksum_address(address_bytes(address)))
    for name in _OUTPUTS:
        yield from _differences(f"{where}.{name}", case[name], actual[name])


def _challenge(case: Mapping[str, object], where: str) -> ComputeChallenge:
    m, n, steps, device, chain_id, window_id = (
        _integer(case[name], f"{where}.{name}") for name in ("m", "n", "steps", "device", "chainId", "windowId")
    )
    window = ComputeWindow(
        chain_id=chain_id,
        beacon=Address(_text(case["beacon"], f"{where}.beacon")),
        window_id=WindowId(window_id),
        window_seed=hash_from_hex(_text(case["windowSeed"], f"{where}.windowSeed")),
    )
    shape = ComputeShape(m=m, n=n, steps=steps)
    if 2 * m * n * n * steps > _MAX_OPERATIONS or max(m, n) * n > _MAX_MATRIX_BYTES:
        raise InvalidInputError(f"{shape} is too large for this check", fix="use a smaller m, n or steps")
    node = Address(_text(case["node"], f"{where}.node"))
    return ComputeChallenge(window=window, node=node, device=device, shape=shape)


def _answers(challenge: ComputeChallenge, draw_seed: Hash32, draws: int) -> dict[str, object]:
    shape = challenge.shape
    x_seed = seed_x(challenge.window, challenge.node, challenge.device)
    w_seed = seed_w(challenge.window, shape.n)
    w = weights(w_seed, shape.n)
    x = input_rows(x_seed, np.arange(shape.m, dtype=np.int64), shape.n)
    last = run_rows(x, w, shape.steps)
    tree = commitment_tree(last[:, :HEAD_BYTES].tobytes())
    rows = draw_rows(draw_seed, challenge, root(tree), draws)
    return {
        "seedX": f"0x{x_seed:016x}",
        "seedW": f"0x{w_seed:016x}",
        "x0Row0": _head(x[0]),
        "weightColumn0": _head(weight_column(w_seed, 0, shape.n)),
        "row0AfterEachStep": _states(x[:1], w, shape.steps),
        "digest0": to_hex(digest(last[0, :HEAD_BYTES].tobytes())),
        "root": to_hex(root(tree)),
        "rows": list(rows),
        "opening": {
            "row": rows[0],
            "bytes": _head(last[rows[0]]),
            "path": [to_hex(node) for node in path(tree, rows[0])],
        },
    }


def _states(x: Int8Matrix, w: Int8Matrix, steps: int) -> list[str]:
    states = [_head(x[0])]
    for _ in range(steps):
        x = step(x, w)
        states.append(_head(x[0]))
    return states


def _head(row: Int8Matrix) -> str:
    return to_hex(row[:HEAD_BYTES].tobytes())


def _differences(where: str, said: object, actual: object) -> Iterator[str]:
    if isinstance(actual, list) and isinstance(said, list) and len(actual) == len(said):
        for index, (one, other) in enumerate(zip(said, actual, strict=True)):
            yield from _differences(f"{where}[{index}]", one, other)
    elif isinstance(actual, dict) and isinstance(said, dict) and actual.keys() == said.keys():
        for name in actual:
            yield from _differences(f"{where}.{name}", said[name], actual[name])
    elif type(said) is not type(actual) or said != actual:
        yield f"{where}: the file says {_short(said)}, right is {_short(actual)}"


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 160 else f"{text[:157]}..."


def _object(value: object, names: frozenset[str], where: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise _malformed(f"{where} is not an object")
    missing, unknown = sorted(names - value.keys()), sorted(value.keys() - names)
    if missing or unknown:
        raise _malformed(f"{where}: missing {missing}, unknown {unknown}")
    return value


def _list(value: object, where: str, longest: int) -> list[object]:
    if not isinstance(value, list) or not 1 <= len(value) <= longest:
        raise _malformed(f"{where} is not a list of 1 to {longest} entries")
    return value


def _integer(value: object, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise _malformed(f"{where} is not a non-negative integer")
    return value


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise _malformed(f"{where} is not a string")
    return value


def _malformed(message: str, fix: str = "") -> InvalidInputError:
    fix = fix or "use a file of the format of compute-proof.json"
    return InvalidInputError(message, fix=fix, code="malformed_vectors", exit_code=1)
