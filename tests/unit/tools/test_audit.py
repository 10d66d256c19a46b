"""The audit's table says yes only where something was measured and holds."""

from pathlib import Path

import pytest

from tools.audit import coverage, halmos, mutate, slither
from tools.audit.mutants import Mutant
from tools.audit.table import Row, all_ok, render
from tools.audit.trial import Limits, Verdict
from tools.audit.workbench import deploy_from_file

ROOT = Path(__file__).resolve().parents[3]

LCOV = """TN:
SF:contracts/src/Vault.sol
DA:10,3
DA:11,0
BRDA:10,0,0,2
BRDA:10,0,1,-
end_of_record
TN:
SF:contracts/test/utils/Trees.sol
DA:1,0
end_of_record
"""
SOURCE = b"function pay() {\n    require(a < b);\n}\n"
MUTANT = Mutant(path="contracts/src/Vault.sol", start=31, end=32, text="<=", kind="operator")
NAMES = {
    "VaultSymbolic": frozenset({"check_stake_whenAny_thenExact", "check_pay_whenAny_thenExact"}),
    "ControlSymbolic": frozenset({"check_pay_whenFalse_thenRefuted"}),
}


def row(*, ok: bool, note: str = "the note") -> Row:
    return Row(part="slither", what="findings", figure="1", needs="0", ok=ok, notes=(note,))


def item(name: str, *, exitcode: int = 0, loops: int = 0) -> dict[str, object]:
    return {"name": f"{name}(uint256)", "exitcode": exitcode, "num_bounded_loops": loops}


def halmos_rows(*vault: dict[str, object], control: int = 1) -> list[bool]:
    report = {
        "test_results": {
            "contracts/test/symbolic/Vault.t.sol:VaultSymbolic": list(vault),
            "contracts/test/symbolic/Control.t.sol:ControlSymbolic": [
                item("check_pay_whenFalse_thenRefuted", exitcode=control)
            ],
        }
    }
    return [found.ok for found in halmos.judge(halmos.read_checks(report), NAMES)]


def campaign(*verdicts: Verdict) -> mutate.Campaign:
    limits = Limits(fuzz_runs=1, workers=1, timeout_s=1)
    mutants = [
        Mutant(path=MUTANT.path, start=31, end=32, text=f"<{' ' * number}", kind="operator")
        for number in range(len(verdicts))
    ]
    return mutate.Campaign(
        target=mutate.Target(
            contract="Vault", tests=("Vault.t.sol",), without=(), sample=0, seed="seed", limits=limits
        ),
        sources={MUTANT.path: SOURCE},
        population=tuple(mutants),
        verdicts=dict(zip(mutants, verdicts, strict=True)),
    )


def test_table_when_a_row_fails_then_it_and_its_notes_are_shown() -> None:
    shown = render([row(ok=True, note="hidden"), row(ok=False, note="shown")])

    assert "FAILS" in shown
    assert "shown" in shown
    assert "hidden" not in shown


@pytest.mark.parametrize(("rows", "ok"), [([], False), ([row(ok=True)], True), ([row(ok=True), row(ok=False)], False)])
def test_audit_when_nothing_was_measured_or_a_row_fails_then_it_fails(rows: list[Row], ok: bool) -> None:
    assert all_ok(rows) is ok


def test_halmos_when_every_check_is_proven_and_the_control_refuted_then_ok() -> None:
    proven = (item("check_stake_whenAny_thenExact"), item("check_pay_whenAny_thenExact"))

    assert halmos_rows(*proven) == [True, True]


@pytest.mark.parametrize(
    "second",
    [
        item("check_pay_whenAny_thenExact", exitcode=1),
        item("check_pay_whenAny_thenExact", exitcode=2),
        item("check_pay_whenAny_thenExact", loops=1),
        item("check_other_whenAny_thenExact"),
    ],
    ids=["refuted", "out of time", "loop cut short", "never run"],
)
def test_halmos_when_a_check_is_not_proven_then_it_fails(second: dict[str, object]) -> None:
    assert halmos_rows(item("check_stake_whenAny_thenExact"), second) == [False, True]


@pytest.mark.parametrize("exitcode", [0, 2, 5])
def test_halmos_when_the_control_is_not_refuted_then_it_fails(exitcode: int) -> None:
    proven = (item("check_stake_whenAny_thenExact"), item("check_pay_whenAny_thenExact"))

    assert halmos_rows(*proven, control=exitcode) == [True, False]


def test_halmos_when_the_sources_are_read_then_every_suite_has_checks_and_there_is_a_control() -> None:
    names = halmos.read_names(ROOT / halmos.CHECKS)

    assert halmos.CONTROL in names
    assert all(names.values())


def test_coverage_when_read_then_sources_alone_count_and_gaps_are_named() -> None:
    files = coverage.read_lcov(LCOV)

    assert [file.path for file in files] == ["contracts/src/Vault.sol"]
    assert list(files[0].missing()) == [
        "contracts/src/Vault.sol:11 is never run",
        "contracts/src/Vault.sol:10 way 1 of the branch is never taken",
    ]


@pytest.mark.parametrize(("missed", "ok"), [(2, True), (3, False)])
def test_coverage_when_below_the_threshold_then_it_fails(missed: int, ok: bool) -> None:
    lines = {line: int(line >= missed) for line in range(100)}
    file = coverage.FileCoverage(path="contracts/src/Vault.sol", lines=lines, branches={(1, 0, 0): 1})

    rows = {found.what: found.ok for found in coverage.judge([file])}

    assert rows["all lines"] is ok
    assert rows["all branches"] is True


def test_slither_when_a_finding_is_open_or_a_justification_stale_then_it_fails() -> None:
    finding = slither.Finding(check="timestamp", impact="Low", place="Vault.pay", text="uses the clock")
    fits = slither.Justification(check="timestamp", where="Vault.*", reason="windows are days long")
    stale = slither.Justification(check="timestamp", where="Other.*", reason="windows are days long")

    assert slither.judge([finding], [fits]).ok
    assert not slither.judge([finding], []).ok
    assert not slither.judge([finding], [fits, stale]).ok


def test_mutant_when_applied_then_only_its_bytes_change() -> None:
    assert MUTANT.apply(SOURCE) == b"function pay() {\n    require(a <= b);\n}\n"
    assert MUTANT.line(SOURCE) == 2
    assert MUTANT.before_and_after(SOURCE) == ("require(a < b);", "require(a <= b);")


@pytest.mark.parametrize(
    ("verdicts", "ok"),
    [
        ([Verdict.KILLED] * 9 + [Verdict.SURVIVED], True),
        ([Verdict.KILLED] * 8 + [Verdict.SURVIVED], False),
        ([Verdict.EQUIVALENT, Verdict.INVALID], False),
    ],
    ids=["nine of ten", "eight of nine", "nothing counts"],
)
def test_mutation_when_fewer_than_nine_in_ten_are_killed_then_it_fails(verdicts: list[Verdict], ok: bool) -> None:
    assert mutate.judge(campaign(*verdicts)).ok is ok


def test_mutation_when_an_equivalent_names_no_mutant_then_it_fails() -> None:
    tried = campaign(Verdict.KILLED)
    known = (MUTANT.path, "require(a < b);", "require(a < b);")
    stale = (MUTANT.path, "require(a > b);", "require(a >= b);")

    assert mutate.judge_equivalents([tried], {known: "reason"}).ok
    assert not mutate.judge_equivalents([tried], {known: "reason", stale: "reason"}).ok


def test_mutation_when_drawn_then_the_seed_alone_decides() -> None:
    population = campaign(*[Verdict.KILLED] * 20).population

    assert mutate.draw(population, 5, "one") == mutate.draw(population[::-1], 5, "one")
    assert mutate.draw(population, 5, "one") != mutate.draw(population, 5, "other")
    assert mutate.draw(population, 0, "one") == population


def test_mutation_when_targets_are_read_then_each_has_its_source_and_tests() -> None:
    targets = mutate.read_targets(ROOT / mutate.TARGETS)

    assert [target.contract for target in targets] == [
        "StakeVault",
        "RewardSettlement",
        "SlashingCourt",
        "ComputeCourt",
    ]
    assert all((ROOT / target.path).is_file() for target in targets)
    assert all(list((ROOT / "contracts/test/unit").glob(pattern)) for target in targets for pattern in target.tests)


def test_workbench_when_a_test_deploys_then_the_code_comes_from_the_file() -> None:
    text = "pragma solidity 0.8.30;\nvault = new Vault(token, f(1, 2));\n"

    changed = deploy_from_file(text, "Vault")

    assert 'vault = Vault(Deployer.deploy("Vault.sol:Vault", abi.encode(token, f(1, 2))));' in changed
    assert deploy_from_file(text, "Court") == text
