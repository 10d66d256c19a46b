"""Roles of a deployment as people give them: a TOML file, options that override it, and defaults on trial presets."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from swarm_chain.cli.amounts import parse_address
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.units import Address
from swarm_chain.deploy import TRIAL_PRESETS, Roles

LISTS = ("members", "proposers")
KEYS = ("owner", "members", "guardian", "veto", "proposers")
EXAMPLE = 'guardian = "0x…" or members = ["0x…", "0x…"]'
OPTIONS = {"members": "--member", "proposers": "--proposer"}

Given = Mapping[str, tuple[Address, ...]]


def given_roles(file: Path | None, options: Mapping[str, Sequence[str]]) -> Given:
    """Roles that were named, by key; an option replaces what the file says.

    Args:
        file: TOML with owner, members, guardian, veto, proposers; each may be left out.
        options: addresses by the same keys; an empty sequence names nobody.

    Raises:
        InvalidInputError: the file cannot be read, is no TOML, has another key, or an address is none.
    """
    found = {} if file is None else _parse(file)
    return found | {key: tuple(map(parse_address, texts)) for key, texts in options.items() if texts}


def complete_roles(params: str, given: Given, deployer: Address) -> Roles:
    """Roles of a deployment; on a trial preset whoever is not named is the owner, and the owner is the deployer.

    Raises:
        InvalidInputError: somebody is missing on another preset (code "roles_missing").
    """
    missing = [key for key in KEYS if key not in given]
    if missing and params not in TRIAL_PRESETS:
        raise InvalidInputError(
            f"params {params} need {', '.join(missing)}",
            code="roles_missing",
            fix=f"add them to the --roles file, or give {', '.join(OPTIONS.get(key, f'--{key}') for key in missing)}",
            values={"missing": missing},
        )
    owner = given.get("owner", (deployer,))
    filled = {key: given.get(key, owner) for key in KEYS}
    return Roles(
        owner=filled["owner"][0],
        members=filled["members"],
        guardian=filled["guardian"][0],
        veto=filled["veto"][0],
        proposers=filled["proposers"],
    )


def _parse(file: Path) -> dict[str, tuple[Address, ...]]:
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise _bad(file, "cannot be read", "name a file that exists and that you may read") from error
    except tomllib.TOMLDecodeError as error:
        raise _bad(file, f"is no TOML: {error}", f"write it like {EXAMPLE}") from error
    unknown = sorted(document.keys() - set(KEYS))
    if unknown:
        raise _bad(file, f"has the unknown key {unknown[0]!r}", f"use only {', '.join(KEYS)}")
    return {key: _addresses(file, key, value) for key, value in document.items()}


def _addresses(file: Path, key: str, value: Any) -> tuple[Address, ...]:
    if key in LISTS and not isinstance(value, list):
        raise _bad(file, f"{key} is no list", f'write {key} = ["0x…"], also for one address')
    texts = value if key in LISTS else [value]
    if not texts or not all(isinstance(text, str) for text in texts):
        wanted = "a list of addresses in quotes" if key in LISTS else "one address in quotes"
        raise _bad(file, f"{key} must be {wanted}", f"write it like {EXAMPLE}")
    try:
        return tuple(map(parse_address, texts))
    except InvalidInputError as error:
        raise _bad(file, f"{key}: {error.message}", error.fix) from error


def _bad(file: Path, what: str, fix: str) -> InvalidInputError:
    return InvalidInputError(f"{file}: {what}" if ":" in what else f"{file} {what}", code="bad_roles", fix=fix)
