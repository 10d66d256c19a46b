"""What people and programs see: tables, notes and questions, or exactly one JSON document on stdout."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, is_dataclass
from enum import Enum, IntEnum
from typing import TYPE_CHECKING, Any

from swarm_chain.core.errors import InvalidInputError, SwarmError
from swarm_chain.core.units import Wei, format_swm

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

MAX_SAFE_INTEGER = 2**53
PIPE_WIDTH = 200  # columns when nobody's terminal limits them


class Output:
    """One command's output.

    stdout carries the result only; notes, questions and progress go to stderr, so pipes stay clean.

    Args:
        as_json: print one JSON document instead of tables.
        assume_yes: ask nothing.
    """

    def __init__(self, *, as_json: bool = False, assume_yes: bool = False) -> None:
        self.as_json = as_json
        self.assume_yes = assume_yes
        self._document: object = None

    def show(self, document: object, *views: "View") -> None:
        """Shows a result: the views to a person, the document to a program.

        Args:
            document: JSON-ready after `jsonable`; the last one shown is the one printed.
            views: what `table` and `facts` made; drawn only if somebody is to see them.
        """
        self._document = document
        if not self.as_json:
            console = _console(sys.stdout)
            for view in views:
                console.print(_rendered(view))

    def note(self, text: str) -> None:
        """A line for a person, on stderr."""
        print(printable(text), file=sys.stderr, flush=True)

    @contextmanager
    def progress(self, text: str) -> Iterator[None]:
        """Shows that something long is going on; one line where stderr is no terminal."""
        if self.as_json or not sys.stderr.isatty():
            self.note(f"{text} ...")
            yield
            return
        with _console(sys.stderr).status(printable(text)):
            yield

    @contextmanager
    def steps(self, title: str) -> Iterator[Callable[[int, int, str], None]]:
        """Shows numbered steps: gives a function to call with (done, total, what comes next)."""
        if self.as_json or not sys.stderr.isatty():
            self.note(f"{title} ...")
            yield lambda *_: None
            return
        from rich.progress import Progress

        with Progress(console=_console(sys.stderr), transient=True) as bars:
            task = bars.add_task(title)
            yield lambda done, total, what: bars.update(task, completed=done, total=total, description=what)

    @contextmanager
    def parts(self, names: Sequence[str]) -> Iterator[Callable[[str], None]]:
        """Shows a bar for work in known parts: gives a function to call as each begins; a line a part without a terminal.

        Args:
            names: the parts, in order.
        """
        if self.as_json or not sys.stderr.isatty():
            yield lambda what: self.note(f"{what} ...")
            return
        begun = 0

        def begin(what: str) -> None:
            nonlocal begun
            step(begun, len(names), what)
            begun += 1

        with self.steps(names[0] if names else "nothing") as step:
            yield begin
            step(len(names), len(names), "done")

    def confirm(self, question: str, *, typed: str | None = None) -> None:
        """Asks before something happens; the default is No.

        Args:
            question: what will happen.
            typed: for what cannot be undone: the text the person has to type.

        Raises:
            InvalidInputError: nobody is there to answer (exit 2).
            SwarmError: the answer was no (exit 1).
        """
        if self.assume_yes:
            return
        if self.as_json or not _interactive():
            raise InvalidInputError(
                "confirmation needed, and nobody is there to answer",
                fix="add --yes if you mean it",
                code="confirmation_needed",
            )
        wanted = typed or "y"
        print(
            f"{question} [type {typed} to go on] " if typed else f"{question} [y/N] ",
            end="",
            file=sys.stderr,
            flush=True,
        )
        answer = sys.stdin.readline().strip()
        if answer != wanted and not (typed is None and answer.lower() in {"y", "yes"}):
            raise SwarmError("cancelled: nothing was sent or changed", code="cancelled")

    def finish(self) -> None:
        """Prints the JSON document, if that is what was asked for and there is one."""
        if self.as_json and self._document is not None:
            print(json.dumps(jsonable(self._document), ensure_ascii=False, indent=2), flush=True)
            self._document = None

    def fail(self, error: SwarmError) -> int:
        """Prints an error once, to the right place.

        Returns:
            The exit code.
        """
        if self.as_json:
            print(json.dumps({**_json_error(error), "exitCode": error.exit_code}, ensure_ascii=False, indent=2))
        else:
            print(printable(f"error: {error.message}"), file=sys.stderr)
            if error.fix:
                print(printable(f"  fix: {error.fix}"), file=sys.stderr)
        return error.exit_code


def jsonable(value: object, key: str = "") -> Any:
    """JSON form of a value: wei and large integers as decimal strings, bytes as 0x-hex, enums by name, dataclasses as objects.

    Args:
        value: anything the core has.
        key: name it stands under; one that ends in "wei" makes an integer text.
    """
    if isinstance(value, Enum):
        return value.name.lower() if isinstance(value, IntEnum) else value.value
    if isinstance(value, bytes):
        return "0x" + value.hex()
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if key.lower().endswith("wei") or abs(value) > MAX_SAFE_INTEGER else value
    if is_dataclass(value) and not isinstance(value, type):
        return jsonable(asdict(value))
    if isinstance(value, Mapping):
        return {str(name): jsonable(item, str(name)) for name, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [jsonable(item, key) for item in value]
    return value if value is None or isinstance(value, str | bool | float) else str(value)


def printable(text: object) -> str:
    """Text without control characters, so that nobody's data can steer the terminal."""
    return "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in str(text))


def swm(amount: Wei | None) -> str:
    """Amount for a person; "unknown" rather than zero when it is not known."""
    return "unknown" if amount is None else f"{format_swm(amount)} SWM"


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A table for a person; columns whose name starts with '>' are right-aligned."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> View:
    """A table; columns whose name starts with '>' are right-aligned."""
    return View(title=title, columns=columns, rows=rows)


def facts(title: str, values: Mapping[str, object]) -> View:
    """Two columns: name and value."""
    return View(title=title, columns=("what", "value"), rows=tuple(values.items()))


def _rendered(view: View) -> "RenderableType":
    from rich.table import Table
    from rich.text import Text

    if not view.rows:
        return Text(f"{view.title}: none")
    grid = Table(title=view.title, title_justify="left")
    for column in view.columns:
        right = column.startswith(">")
        grid.add_column(column.lstrip(">"), justify="right" if right else "left", overflow="fold")
    for row in view.rows:
        grid.add_row(*(Text(printable(cell)) for cell in row))
    return grid


def _json_error(error: SwarmError) -> dict[str, Any]:
    document: dict[str, Any] = jsonable(error.as_dict())
    return document


def _interactive() -> bool:
    return sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()


def _console(stream: Any) -> "Console":
    from rich.console import Console

    return Console(
        file=stream, markup=False, highlight=False, emoji=False, width=None if stream.isatty() else PIPE_WIDTH
    )
