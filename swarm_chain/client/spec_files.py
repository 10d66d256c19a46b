"""A spec file with the files beside it: `code_file` becomes `code`, `input_files` become `inputs`.

job.yaml          kind: tune                 what is posted      {"kind": "tune", …,
                  code_file: hooks.py                             "code": "def objective(…", "inputs": ["0x…"]}
                  input_files: [data.npz]
hooks.py          read into the spec                              the gateway keeps data.npz under its hash
data.npz          named by its hash
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from swarm_chain.core.encoding import keccak, to_hex
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.jobs import MAX_CODE_BYTES, MAX_NAMES, MAX_SPEC_BYTES, JobSpec, invalid_spec, parse_job_spec
from swarm_chain.core.units import Hash32
from swarm_chain.reference.programs.registry import PROGRAMS, open_program, program_entry

MAX_INPUT_BYTES: Final = 256_000_000  # of one input; it is held in memory when it is sent
CODE_FILE, INPUT_FILES = "code_file", "input_files"


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFile:
    """A file a job reads, named by the hash of its bytes."""

    path: Path
    content_hash: Hash32

    def read(self) -> bytes:
        """Its bytes.

        Raises:
            InvalidInputError: it is gone, or no longer what it was.
        """
        content = _read(self.path, MAX_INPUT_BYTES, "input")
        if keccak(content) != self.content_hash:
            raise _bad(f"the input {self.path.name} has changed since the spec was read", "repeat the command")
        return content


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecFile:
    """A spec as it is posted, and the files its `inputs` name."""

    spec: JobSpec
    inputs: tuple[InputFile, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Included:
    """The fields of a spec with the files beside it in them, and those that become its inputs."""

    fields: dict[str, Any]
    inputs: tuple[InputFile, ...]


def read_spec_file(path: Path) -> SpecFile:
    """A spec file, checked as far as a customer can: by its program, with the inputs that are at hand.

    Args:
        path: YAML (.yaml, .yml) or JSON. `code_file` and `input_files` are relative to its folder and stay inside it.

    Raises:
        InvalidInputError: unreadable, too large, not YAML or JSON, a file beside it that is missing, too large or outside
            its folder, or no spec a node would run; the message names the field, the fix what would be right.
    """
    text = _decoded(_read(path, MAX_SPEC_BYTES, "spec"), path)
    document = _parse_yaml(text) if path.suffix in {".yaml", ".yml"} else _parse_json(text)
    if not isinstance(document, dict):
        raise invalid_spec("the spec is no object", "write `kind: …`, `program: …` and `work:` with its fields")
    included = include_files(document, path.parent)
    _check_names(included.fields)
    return SpecFile(spec=check_spec(included.fields, included.inputs), inputs=included.inputs)


def include_files(document: Mapping[str, Any], folder: Path) -> Included:
    """The fields of a spec once the files beside it have become `code` and `inputs`.

    Args:
        document: what the file says.
        folder: where it is.

    Raises:
        InvalidInputError: a file is missing, too large, unreadable or outside the folder.
    """
    inputs = tuple(_input(folder, name) for name in _list_of_files(document.get(INPUT_FILES, [])))
    fields = {name: value for name, value in document.items() if name not in {CODE_FILE, INPUT_FILES}}
    if CODE_FILE in document:
        fields["code"] = _code(document, folder)
    if inputs:
        fields["inputs"] = [*_list_of(document, "inputs"), *(to_hex(file.content_hash) for file in inputs)]
    return Included(fields=fields, inputs=inputs)


def check_spec(document: object, inputs: Sequence[InputFile] = ()) -> JobSpec:
    """A spec that its program would run.

    Args:
        document: parsed JSON or YAML, or what `JobSpec.document` gave.
        inputs: the files that are at hand; what other inputs hold is left to the gateway.

    Raises:
        InvalidInputError: it is none.
    """
    spec = parse_job_spec(document)
    files = {file.content_hash: file for file in inputs}

    def find(content_hash: Hash32) -> bytes:
        if content_hash not in files:
            raise InvalidInputError(f"input {to_hex(content_hash)} is not there", code="unknown_input")
        return files[content_hash].read()

    try:
        open_program(spec, find)
    except InvalidInputError as error:
        if error.code != "unknown_input":
            fix = "; ".join(filter(None, [error.fix, f"every field: swarm job schema {spec.kind}"]))
            raise InvalidInputError(error.message, fix=fix, code=error.code, values=error.values) from error
    return spec


def programs_of(kind: str) -> tuple[str, ...]:
    """Names of the programs of a kind, as they were added.

    Raises:
        InvalidInputError: no program has that kind.
    """
    kinds = {name: program_entry(name).kind for name in PROGRAMS}
    found = tuple(name for name, of in kinds.items() if of == kind)
    if not found:
        choices = ", ".join(dict.fromkeys(kinds.values()))
        raise invalid_spec(f"there is no kind {str(kind)[:64]!r} with a program", f"choose one of {choices}")
    return found


def _check_names(document: Mapping[str, Any]) -> None:
    """Kind and program first, for everything else depends on them."""
    if "kind" not in document:
        raise invalid_spec("kind is missing", "say what is to be done, such as `kind: train`")
    choices = programs_of(document["kind"])
    if document.get("program") not in choices:
        what = (
            f"program {str(document['program'])[:64]!r} is not one" if "program" in document else "program is missing"
        )
        raise invalid_spec(f"{what} of kind {document['kind']}", f"set program to {' or '.join(choices)}")


def _code(document: Mapping[str, Any], folder: Path) -> str:
    if document.get("code"):
        raise _bad("both code and code_file are given", "leave one of them out")
    path = _inside(folder, document[CODE_FILE], CODE_FILE)
    return _decoded(_read(path, MAX_CODE_BYTES, CODE_FILE), path)


def _input(folder: Path, name: object) -> InputFile:
    path = _inside(folder, name, INPUT_FILES)
    return InputFile(path=path, content_hash=keccak(_read(path, MAX_INPUT_BYTES, INPUT_FILES)))


def _inside(folder: Path, name: object, field: str) -> Path:
    """A link that leads out of the folder leaves it as well."""
    if not isinstance(name, str) or not name or "\0" in name:
        raise _bad(f"{field} names no file", f"write it like {field}: hooks.py, relative to the spec")
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise _bad(f"{field}: {name} is outside the spec's folder", "put the file beside the spec")
    return path


def _read(path: Path, most: int, what: str) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(most + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no such file"
        raise _bad(
            f"cannot read the {what} {path}: {reason}", "name a file that exists and that you may read"
        ) from error
    if len(content) > most:
        raise _bad(f"the {what} {path.name} has more than {most} bytes", f"keep it to {most} bytes")
    return content


def _decoded(content: bytes, path: Path) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _bad(f"{path.name} is no UTF-8 text", "save it as UTF-8") from error


def _list_of_files(value: object) -> list[object]:
    if not isinstance(value, list) or len(value) > MAX_NAMES:
        raise _bad(f"{INPUT_FILES} is no list of at most {MAX_NAMES} files", f"write it like {INPUT_FILES}: [data.npz]")
    return value


def _list_of(document: Mapping[str, Any], name: str) -> list[object]:
    value = document.get(name, [])
    if not isinstance(value, list):
        raise invalid_spec(f"{name} is no list", f"correct {name}")
    return value


def _parse_yaml(text: str) -> object:
    import yaml

    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise invalid_spec("the spec is no YAML", _first_line(error)) from error


def _parse_json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise invalid_spec("the spec is no JSON", _first_line(error)) from error


def _first_line(error: BaseException) -> str:
    return f"correct it: {' '.join(str(error).split())[:200]}"


def _bad(message: str, fix: str) -> InvalidInputError:
    return invalid_spec(message, fix)
