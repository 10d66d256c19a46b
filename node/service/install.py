"""Writes and removes the unit and its environment file; a unit that somebody changed is shown, not overwritten."""

import difflib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from node.service.unit import UNIT, Service, environment_text, unit_text
from swarm_chain.adapters.private_files import write_private
from swarm_chain.core.errors import InvalidInputError, UnavailableError

UNIT_MODE = 0o644


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the unit and its environment file are written, below another root if an image is being made."""

    unit: Path
    environment: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """What came of an installation; `difference` is empty if the unit was new or as it should be."""

    place: Place
    is_changed: bool
    difference: str
    text: str


def place_of(service: Service, units: Path, root: Path) -> Place:
    """Where the files of a service go.

    Args:
        service: names the environment file.
        units: systemd's folder of units, absolute.
        root: "/", or the folder of an image.
    """
    return Place(unit=_below(root, units / UNIT), environment=_below(root, Path(service.environment)))


def require_systemd(root: Path) -> None:
    """Refuses a machine without systemd; an image needs none.

    Raises:
        UnavailableError: there is no systemctl (exit 3).
    """
    if root == Path("/") and shutil.which("systemctl") is None:
        raise UnavailableError(
            "this machine has no systemd",
            fix="apt install systemd, or start `swarm node run` from the supervisor you have: SIGTERM drains, exit 0",
            code="no_systemd",
            exit_code=3,
        )


def check_service(service: Service) -> None:
    """Refuses names that would say something else in a unit.

    Raises:
        InvalidInputError: a path is relative, or a word holds white space, a percent sign or a control character.
    """
    paths = (service.program, service.environment, service.home)
    odd = [
        word
        for word in (*paths, service.user)
        if any(c.isspace() or c in "%\"'\\$" or not c.isprintable() for c in word)
    ]
    odd += [path for path in paths if not path.startswith("/")]
    if odd:
        raise InvalidInputError(
            f"{odd[0]!r} cannot stand in a unit", fix="use absolute paths without spaces or quotes", code="bad_path"
        )


def install(service: Service, place: Place, *, force: bool, dry_run: bool) -> Installed:
    """Writes the unit, and an environment file to fill in if there is none.

    Args:
        service: what the unit says.
        place: where it goes.
        force: overwrite a unit that says something else.
        dry_run: look, but write nothing.

    Raises:
        InvalidInputError: the unit there says something else; `values` holds the difference.
    """
    text = unit_text(service)
    before = _read(place.unit)
    difference = "" if before is None else _difference(before, text, str(place.unit))
    if difference and not force and not dry_run:
        raise InvalidInputError(
            f"{place.unit} was changed, or is of another version:\n{difference}",
            fix="add --force to overwrite it; `systemctl edit swarm-node` keeps changes apart from it",
            code="unit_changed",
            values={"unit": str(place.unit), "difference": difference},
        )
    if not dry_run:
        _write(place.unit, text)
        write_private(place.environment, environment_text())
    return Installed(place=place, is_changed=before != text, difference=difference, text=text)


def uninstall(service: Service, place: Place, *, force: bool, dry_run: bool) -> bool:
    """Removes the unit; environment file, key and state stay.

    Returns:
        Whether there was one.

    Raises:
        InvalidInputError: the unit there is not ours, and `force` was not given.
    """
    before = _read(place.unit)
    if before is None:
        return False
    difference = _difference(before, unit_text(service), str(place.unit))
    if difference and not force and not dry_run:
        raise InvalidInputError(
            f"{place.unit} was changed, or is of another version:\n{difference}",
            fix="add --force to remove it all the same",
            code="unit_changed",
            values={"unit": str(place.unit), "difference": difference},
        )
    if not dry_run:
        place.unit.unlink()
    return True


def _below(root: Path, path: Path) -> Path:
    return root / path.relative_to("/")


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise _no_access(path, error) from error


def _write(path: Path, text: str) -> None:
    """Beside it first and then renamed: systemd never reads half a unit."""
    beside = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(text, encoding="utf-8")
        os.chmod(beside, UNIT_MODE)
        beside.replace(path)
    except OSError as error:
        raise _no_access(path, error) from error


def _no_access(path: Path, error: Exception) -> InvalidInputError:
    reason = getattr(error, "strerror", None) or type(error).__name__
    fix = "run as root (sudo), or install for yourself with --user"
    return InvalidInputError(f"{path}: {reason}", fix=fix, code="no_access", exit_code=3)


def _difference(before: str, after: str, name: str) -> str:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), name, "this version", lineterm="")
    return "\n".join(lines)
