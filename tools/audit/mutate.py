"""Mutation testing: changes the contracts in small ways and counts how many changes the tests notice.

    python -m tools.audit.mutate [CONTRACT ...] [--all]

Verdicts are kept in build/audit/mutation/verdicts by the hash of everything that decides them, so a second run is quick.
"""

import argparse
import hashlib
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import rmtree
from typing import Any

from tools.audit.compiler import Compiler
from tools.audit.mutants import Mutant, mutants_of
from tools.audit.table import Row, percent, share_bps
from tools.audit.trial import UNCOUNTED, Limits, Trial, Verdict, source_of
from tools.audit.workbench import fingerprint, lay_out

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path("build/audit/mutation")
TARGETS = Path("tools/audit/targets.toml")
EQUIVALENT = Path("tools/audit/equivalent.toml")
NEEDED_BPS = 9000


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A contract to mutate and how."""

    contract: str
    tests: tuple[str, ...]
    without: tuple[str, ...]
    sample: int
    seed: str
    limits: Limits

    @property
    def path(self) -> str:
        """Its source file."""
        return source_of(self.contract)


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """The mutants of one target: all of them, those that were drawn, and what became of these."""

    target: Target
    sources: Mapping[str, bytes]
    population: tuple[Mutant, ...]
    verdicts: Mapping[Mutant, Verdict]

    def place(self, mutant: Mutant) -> str:
        """`file:line kind: before --> after` of a mutant."""
        source = self.sources[mutant.path]
        before, after = mutant.before_and_after(source)
        return f"{mutant.path}:{mutant.line(source)} {mutant.kind}: {before} --> {after}"


# (file, line before, line after) --> reason
Equivalents = Mapping[tuple[str, str, str], str]


def measure(root: Path, contracts: Sequence[str] = (), *, everything: bool = False) -> tuple[Row, ...]:
    """Runs the campaigns.

    Args:
        root: the repository.
        contracts: which targets; none means all.
        everything: every mutant instead of the sample.

    Returns:
        One row a target, survivors in its notes, and one row for the list of equivalent mutants.

    Raises:
        UnavailableError: a tool failed.
        InconsistentError: the tests fail without any mutant.
    """
    targets = [item for item in read_targets(root / TARGETS) if not contracts or item.contract in contracts]
    equivalents = read_equivalents(root / EQUIVALENT)
    chosen = [replace(item, sample=0) if everything else item for item in targets]
    campaigns = [run_campaign(root, target, equivalents) for target in chosen]
    rows = [judge(campaign) for campaign in campaigns]
    return (*rows, judge_equivalents(campaigns, equivalents))


def read_targets(path: Path) -> tuple[Target, ...]:
    """Targets of the committed file."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    limits = Limits(**table["limits"])
    common = {"sample": table["sample"], "seed": table["seed"], "limits": limits}
    return tuple(
        Target(contract=item["contract"], tests=tuple(item["tests"]), without=tuple(item.get("without", ())), **common)
        for item in table["target"]
    )


def read_equivalents(path: Path) -> Equivalents:
    """Mutants that cannot change what a contract does, each with its reason."""
    items = tomllib.loads(path.read_text(encoding="utf-8")).get("mutant", ())
    return {(item["file"], item["before"], item["after"]): item["reason"] for item in items}


def draw(population: Sequence[Mutant], size: int, seed: str) -> tuple[Mutant, ...]:
    """A sample that depends on seed and mutants alone; size 0 means all of them."""

    def rank(mutant: Mutant) -> bytes:
        name = f"{seed}/{mutant.path}/{mutant.start}/{mutant.end}/{mutant.text}"
        return hashlib.sha256(name.encode()).digest()

    return tuple(population) if size == 0 else tuple(sorted(population, key=rank)[:size])


def run_campaign(root: Path, target: Target, equivalents: Equivalents) -> Campaign:
    """Draws mutants of one target and tries them on its workbenches."""
    folder = root / FOLDER / target.contract
    rmtree(folder, ignore_errors=True)
    lay_out(root, folder / "0", contract=target.contract, tests=target.tests)
    with Compiler(folder / "0") as compiler:
        trees = _trees(compiler, target, (folder / "0" / target.path).read_text(encoding="utf-8"))
    sources = {path: (folder / "0" / path).read_bytes() for path in trees}
    population = tuple(mutant for path in sorted(trees) for mutant in mutants_of(path, sources[path], trees[path]))
    drawn = draw(population, target.sample, target.seed)
    verdicts = dict.fromkeys((item for item in drawn if _key(item, sources) in equivalents), Verdict.EQUIVALENT)
    store = root / FOLDER / "verdicts" / fingerprint(folder / "0", f"{target.limits.fuzz_runs}")
    store.mkdir(parents=True, exist_ok=True)
    left = [item for item in drawn if item not in verdicts]
    known = {item: Verdict(path.read_text()) for item in left if (path := store / _name(item)).exists()}
    verdicts |= known
    new = [item for item in left if item not in known]
    for mutant, verdict in Trial(folder=folder, contract=target.contract, limits=target.limits).run(new, sources):
        (store / _name(mutant)).write_text(verdict)
        verdicts[mutant] = verdict
    return Campaign(target=target, sources=sources, population=population, verdicts=verdicts)


def judge(campaign: Campaign) -> Row:
    """The row of one target: killed of those that count."""
    counts = {verdict: list(campaign.verdicts.values()).count(verdict) for verdict in Verdict}
    counted = counts[Verdict.KILLED] + counts[Verdict.SURVIVED]
    killed_bps = share_bps(counts[Verdict.KILLED], counted)
    survivors = [mutant for mutant, verdict in campaign.verdicts.items() if verdict is Verdict.SURVIVED]
    drawn = f"{len(campaign.verdicts)} of {len(campaign.population)} mutants"
    apart = ", ".join(f"{counts[verdict]} {verdict}" for verdict in UNCOUNTED if counts[verdict])
    return Row(
        part="mutation",
        what=campaign.target.contract,
        figure=f"{percent(killed_bps)} killed ({counts[Verdict.KILLED]} of {counted}; {drawn}{apart and ', '}{apart})",
        needs=percent(NEEDED_BPS),
        ok=counted > 0 and killed_bps >= NEEDED_BPS,
        notes=tuple(sorted(campaign.place(mutant) for mutant in survivors)),
    )


def judge_equivalents(campaigns: Sequence[Campaign], equivalents: Equivalents) -> Row:
    """The row that keeps the list of equivalent mutants honest: each entry names a mutant of today's sources."""
    known = {_key(mutant, campaign.sources) for campaign in campaigns for mutant in campaign.population}
    mutated = {path for campaign in campaigns for path in campaign.sources}
    stale = [key for key in equivalents if key[0] in mutated and key not in known]
    return Row(
        part="mutation",
        what="equivalent.toml",
        figure=f"{len(equivalents)} entries, {len(stale)} stale",
        needs="0 stale",
        ok=not stale,
        notes=tuple(f"no mutant turns '{before}' into '{after}' in {path}" for path, before, after in stale),
    )


def main(arguments: Sequence[str]) -> int:
    """Prints the rows and every survivor."""
    parser = argparse.ArgumentParser(prog="tools.audit.mutate", description="mutation testing of the contracts")
    parser.add_argument("contract", nargs="*", help="which contracts (all targets)")
    parser.add_argument("--all", action="store_true", help="every mutant, not the sample")
    options = parser.parse_args(arguments)
    rows = measure(ROOT, options.contract, everything=options.all)
    for row in rows:
        sys.stdout.write(f"{row.what}: {row.figure}\n" + "".join(f"  {note}\n" for note in row.notes))
    return 0 if all(row.ok for row in rows) else 1


def _trees(compiler: Compiler, target: Target, text: str) -> dict[str, Any]:
    """Syntax trees of what is mutated: the contract's file and its imports from contracts/src, interfaces and types apart."""
    answer = compiler.compile({target.path: text}, {"*": {"": ["ast"]}})
    return {
        path: source["ast"]
        for path, source in answer["sources"].items()
        if path.startswith("contracts/src/")
        and not path.startswith(("contracts/src/interfaces", "contracts/src/types"))
        and Path(path).stem not in target.without
    }


def _key(mutant: Mutant, sources: Mapping[str, bytes]) -> tuple[str, str, str]:
    return (mutant.path, *mutant.before_and_after(sources[mutant.path]))


def _name(mutant: Mutant) -> str:
    """File name of a verdict: a hash of the change."""
    return hashlib.sha256(f"{mutant.path}/{mutant.start}/{mutant.end}/{mutant.text}".encode()).hexdigest()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
