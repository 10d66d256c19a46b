"""Tries mutants: compiles each, puts its code where the tests deploy it from and lets them run, several at a time."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from queue import SimpleQueue
from shutil import copytree

from swarm_chain.core.errors import InconsistentError
from tools.audit.compiler import Compiler
from tools.audit.mutants import Mutant
from tools.audit.workbench import Workbench


class Verdict(StrEnum):
    """What became of a mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    INVALID = "invalid"  # does not compile, so nobody could deploy it; not counted
    UNCHANGED = "unchanged"  # gives the same code, so it lies in a part this contract does not use; not counted
    EQUIVALENT = "equivalent"  # listed in equivalent.toml; not counted


UNCOUNTED = (Verdict.INVALID, Verdict.UNCHANGED, Verdict.EQUIVALENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How hard the tests try: inputs of each fuzz test, workbenches at a time, seconds after which a run hangs."""

    fuzz_runs: int
    workers: int
    timeout_s: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """A workbench with its compiler and the code that it has without any mutant."""

    workbench: Workbench
    compiler: Compiler
    untouched: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The mutants of one contract, tried on copies of `folder`/0, which is laid out but not built yet."""

    folder: Path
    contract: str
    limits: Limits

    def run(self, mutants: Sequence[Mutant], sources: Mapping[str, bytes]) -> Iterator[tuple[Mutant, Verdict]]:
        """Each mutant with its verdict, in the order given.

        Args:
            mutants: to try; none means that nothing is built either.
            sources: the files they change.

        Raises:
            InconsistentError: the tests fail without any mutant.
            UnavailableError: a tool failed.
        """
        if not mutants:
            return
        with ExitStack() as stack:
            benches: SimpleQueue[Bench] = SimpleQueue()
            for bench in self._benches(stack):
                benches.put(bench)

            def attempt(mutant: Mutant) -> Verdict:
                bench = benches.get()
                try:
                    return self._verdict(bench, mutant.path, mutant.apply(sources[mutant.path]).decode())
                finally:
                    benches.put(bench)

            with ThreadPoolExecutor(max_workers=self.limits.workers) as pool:
                for number, verdict in enumerate(pool.map(attempt, mutants)):
                    if number % 50 == 0:
                        sys.stderr.write(f"  {self.contract}: {number} of {len(mutants)}\n")
                    yield mutants[number], verdict

    def _benches(self, stack: ExitStack) -> Iterator[Bench]:
        """The first workbench is built and its tests are run; the others are copies of it."""
        for number in range(self.limits.workers):
            place = self.folder / str(number)
            workbench = Workbench(
                place, contract=self.contract, timeout_s=self.limits.timeout_s, fuzz_runs=self.limits.fuzz_runs
            )
            if number:
                copytree(self.folder / "0", place, symlinks=True)
            else:
                workbench.build()
            compiler = stack.enter_context(Compiler(place))
            bench = Bench(workbench=workbench, compiler=compiler, untouched=_code(compiler, place, self.contract) or "")
            if not number:
                self._require_baseline(bench)
            yield bench

    def _require_baseline(self, bench: Bench) -> None:
        bench.workbench.put_code(bench.untouched)
        if not bench.workbench.tests_pass():
            raise InconsistentError(
                f"the tests of {self.contract} fail without any mutant",
                fix=f"run 'forge test' in {bench.workbench.folder}",
            )

    def _verdict(self, bench: Bench, path: str, text: str) -> Verdict:
        code = _code(bench.compiler, bench.workbench.folder, self.contract, {path: text})
        if code is None:
            return Verdict.INVALID
        if code == bench.untouched:
            return Verdict.UNCHANGED
        bench.workbench.put_code(code)
        return Verdict.SURVIVED if bench.workbench.tests_pass() else Verdict.KILLED


def source_of(contract: str) -> str:
    """Source file of a contract."""
    return f"contracts/src/{contract}.sol"


def _code(compiler: Compiler, folder: Path, contract: str, changed: Mapping[str, str] | None = None) -> str | None:
    """Creation code of the contract with the changed files; nothing if they do not compile."""
    path = source_of(contract)
    texts = {path: (folder / path).read_text(encoding="utf-8"), **(changed or {})}
    answer = compiler.compile(texts, {path: {contract: ["evm.bytecode.object"]}})
    if any(error["severity"] == "error" for error in answer.get("errors", ())):
        return None
    return str(answer["contracts"][path][contract]["evm"]["bytecode"]["object"])
