"""swarm-optimise/1: variants are what they say, in bytes, loss and accuracy; a report that says better is not computed again."""

import json
import logging
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load

from swarm_chain.core.encoding import canonical_json
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.reference.checkpoint import dump_checkpoint, parse_checkpoint
from swarm_chain.reference.models import predict
from swarm_chain.reference.reference_module import ReferenceModule
from swarm_chain.reference.variant_kinds import Int4, Int8, Prune
from swarm_chain.reference.variants import held_out, make_variant, stored
from tests.optimise_world import TRAIN, contents_of, optimise_program

PROGRAM = optimise_program()
CONTENTS = contents_of(PROGRAM)
MODEL = CONTENTS[2]
INT8, INT4, PRUNED = 2, 3, 4  # units
WEIGHTS = torch.from_numpy(parse_checkpoint(PROGRAM.train, MODEL).state[0].copy())


def module() -> ReferenceModule:
    return ReferenceModule(PROGRAM.train, WEIGHTS)


def report_of(content: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(content.partition(b"\n")[0])
    return found


def file_of(content: bytes) -> dict[str, torch.Tensor]:
    return load(content.partition(b"\n")[2])


@pytest.mark.parametrize("model", ["transformer", "mlp"])
def test_module_when_asked_then_gives_what_the_reference_model_gives(model: str) -> None:
    program = optimise_program(train=TRAIN | {"model": model, "layers": 2})
    flat = torch.from_numpy(parse_checkpoint(program.train, program.first()).state[0].copy())
    tokens = held_out(program.train)

    logits, _ = predict(program.train, flat, tokens)

    assert torch.allclose(ReferenceModule(program.train, flat)(tokens[:, :-1]), logits, atol=1e-5)


def test_variants_when_made_then_smaller_and_hardly_worse() -> None:
    reports = [report_of(content) for content in CONTENTS[INT8 + 1 :]]
    original = reports[0]["original"]

    assert [report["original"] for report in reports] == [original] * 3
    assert all(report["bytes"] < original["bytes"] * 3 // 4 for report in reports)
    assert reports[1]["bytes"] < reports[0]["bytes"] < original["bytes"] // 2
    assert original["accuracyBps"] > 5000
    assert all(abs(report["lossMicro"] - original["lossMicro"]) < 60_000 for report in reports[:2])
    assert reports[2]["lossMicro"] > original["lossMicro"]
    assert all(
        report["bytes"] == len(content.partition(b"\n")[2])
        for report, content in zip(reports, CONTENTS[3:], strict=True)
    )


def test_int8_file_when_read_then_holds_the_weights_that_were_measured() -> None:
    made, file = module(), file_of(CONTENTS[INT8 + 1])
    make_variant(made, Int8(method="int8"))

    for name, linear in made.matrices():
        weights = file[f"{name}.qdata"] * file[f"{name}.scale"]
        assert torch.equal(weights, linear.weight.dequantize())


def test_int4_file_when_read_then_holds_the_weights_that_were_measured() -> None:
    made, file = module(), file_of(CONTENTS[INT4 + 1])
    make_variant(made, Int4(method="int4", group=16))

    for name, linear in made.matrices():
        packed, scale = file[f"{name}.qdata"].to(torch.int16), file[f"{name}.scale"]
        numbers = torch.stack([packed % 16, packed // 16], 1).view(*scale.shape, 16) - 8
        weights = (numbers * scale[..., None]).view(linear.out_features, linear.in_features)
        assert torch.equal(weights, linear.weight.dequantize())


def test_pruned_file_when_read_then_holds_the_weights_of_greatest_magnitude() -> None:
    file = file_of(CONTENTS[PRUNED + 1])
    matrices = dict(module().matrices())
    total = sum(linear.weight.numel() for linear in matrices.values())
    kept = 0
    for name, linear in matrices.items():
        flags = np.unpackbits(file[f"{name}.mask"].numpy())[: linear.weight.numel()].astype(bool)
        weights = torch.zeros(linear.weight.numel())
        weights[torch.from_numpy(flags)] = file[f"{name}.values"]
        left = weights.view_as(linear.weight)
        assert torch.equal(left[left != 0], linear.weight[left != 0])
        kept += int(flags.sum())
    assert kept == total - total * 6000 // 10_000


IN_ANOTHER_PROCESS = """
from swarm_chain.core.checkpoints import content_hash
from tests.optimise_world import contents_of, optimise_program
print(*(content_hash(content).hex() for content in contents_of(optimise_program())))
"""


def test_units_when_computed_in_another_process_then_the_same_and_nothing_is_said() -> None:
    from swarm_chain.core.checkpoints import content_hash

    done = subprocess.run([sys.executable, "-c", IN_ANOTHER_PROCESS], check=True, capture_output=True, text=True)

    assert done.stdout.split() == [content_hash(content).hex() for content in CONTENTS]
    assert done.stderr == ""
    assert not logging.root.manager.disable


@pytest.mark.long
def test_units_when_honest_then_fifty_of_them_match() -> None:
    judged = 0
    for seed in range(10):
        program = optimise_program(train=TRAIN | {"seed": seed, "steps": 4, "segment_steps": 2})
        contents = contents_of(program)
        again = [program.compute(unit, contents[program.source(unit)]) for unit in range(program.units)]
        assert again == contents[1:]
        judged += program.units
    assert judged == 50


@pytest.mark.parametrize("lie", [{"accuracyBps": 9999}, {"lossMicro": 1}, {"bytes": 10}, {"original": {}}])
@pytest.mark.parametrize("unit", [INT8, INT4, PRUNED])
def test_variant_with_a_better_report_when_judged_then_not_what_is_computed(unit: int, lie: dict[str, Any]) -> None:
    honest = CONTENTS[unit + 1]
    claimed = canonical_json(report_of(honest) | lie) + b"\n" + honest.partition(b"\n")[2]

    assert PROGRAM.compute(unit, MODEL) == honest != claimed


def test_variant_of_less_trained_model_when_judged_then_not_what_is_computed() -> None:
    lazy = dump_checkpoint(replace(parse_checkpoint(PROGRAM.train, CONTENTS[1]), index=2))

    assert PROGRAM.compute(INT8, lazy) != CONTENTS[INT8 + 1]  # and the segment before it does not lead to this source
    assert PROGRAM.compute(1, CONTENTS[1]) != lazy
    with pytest.raises(InvalidInputError, match="not the trained model"):
        PROGRAM.compute(INT8, CONTENTS[1])


def test_run_that_starts_elsewhere_when_judged_then_refused() -> None:
    start = parse_checkpoint(PROGRAM.train, CONTENTS[0])
    trained = dump_checkpoint(replace(start, state=start.state + np.float32(1)))

    with pytest.raises(InvalidInputError, match="not the start of the run"):
        PROGRAM.compute(0, trained)


def test_checkpoint_as_input_when_optimised_then_gives_the_same_variants() -> None:
    program = optimise_program(MODEL)
    contents = contents_of(program)

    assert program.units == 3
    assert contents[1:] == CONTENTS[INT8 + 1 :]
    with pytest.raises(InvalidInputError, match="names another checkpoint"):
        program.compute(0, contents[0].replace(b"0x", b"0y"))
    with pytest.raises(InvalidInputError):
        program.compute(0, b"{")


def test_source_of_another_kind_of_machine_when_judged_then_not_judged() -> None:
    foreign = dump_checkpoint(replace(parse_checkpoint(PROGRAM.train, MODEL), platform="torch-1 MMX pdp11"))
    given = optimise_program(MODEL)

    for program, unit, source in (
        (PROGRAM, INT8, foreign),
        (given, 0, given.first().replace(b"torch-", b"pdp11-")),
        (PROGRAM, 0, dump_checkpoint(replace(parse_checkpoint(PROGRAM.train, CONTENTS[0]), platform="pdp11"))),
    ):
        with pytest.raises(UnavailableError, match="pdp11") as caught:
            program.compute(unit, source)
        assert caught.value.code == "other_machine"


def test_pruned_model_when_everything_is_at_one_magnitude_then_just_as_many_weights_go() -> None:
    flat = torch.full_like(WEIGHTS, 0.5)
    model = ReferenceModule(PROGRAM.train, flat)
    make_variant(model, Prune(method="prune", pruned_bps=5000))

    matrices = [linear.weight for _, linear in model.matrices()]
    assert sum(int((weight == 0).sum()) for weight in matrices) == sum(weight.numel() for weight in matrices) // 2
    assert stored(model, Prune(method="prune", pruned_bps=5000))


BAD_WORK: list[tuple[dict[str, Any], str, str]] = [
    ({"variants": []}, "work.variants", "correct work.variants"),
    ({"variants": [{"method": "int2"}]}, "work.variants.0", "correct work.variants.0"),
    ({"variants": [{"method": "int4", "group": 24}]}, "work.variants.0", "correct"),
    ({"variants": [{"method": "int4", "group": 64}]}, "groups of 64 do not divide", "divides 32"),
    ({"variants": [{"method": "prune"}]}, "pruned_bps", "correct"),
    ({"variants": [{"method": "prune", "pruned_bps": 10_000}]}, "pruned_bps", "correct"),
    ({"variants": [{"method": "int8", "group": 8}]}, "work.variants.0", "correct"),
    ({"train": TRAIN | {"steps": 41}}, "multiple of segment_steps", "change the spec"),
    ({"train": TRAIN | {"width": "wide"}}, "work.train.width", "correct"),
]


@pytest.mark.parametrize(("work", "message", "fix"), BAD_WORK)
def test_work_when_wrong_then_says_what_would_be_right(work: dict[str, Any], message: str, fix: str) -> None:
    with pytest.raises(InvalidInputError, match=message) as caught:
        optimise_program(**work)

    assert caught.value.code == "invalid_spec"
    assert fix in (caught.value.fix or "")
