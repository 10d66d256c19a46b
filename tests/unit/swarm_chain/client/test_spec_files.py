"""A spec file and the files beside it become exactly one spec, or a clear error."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from swarm_chain.client import spec_files
from swarm_chain.client.spec_files import check_spec, programs_of, read_spec_file
from swarm_chain.core.encoding import keccak, to_hex
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.jobs import MAX_CODE_BYTES

WORK = {
    "model": "mlp",
    "seed": 7,
    "steps": 20,
    "segment_steps": 5,
    "batch": 8,
    "context": 8,
    "vocabulary": 16,
    "width": 16,
    "heads": 1,
    "layers": 1,
    "learning_rate_micro": 1000,
}
TRAIN: dict[str, Any] = {"kind": "train", "program": "swarm-train/1", "work": WORK}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with code and data, and a file beside it that no spec may name."""
    found = tmp_path / "job"
    found.mkdir()
    (found / "hooks.py").write_text("def load():\n    return 1\n", encoding="utf-8")
    (found / "data.npz").write_bytes(b"\x00rows")
    (tmp_path / "secret.key").write_text("secret", encoding="utf-8")
    return found


def _written(folder: Path, document: object) -> Path:
    path = folder / "job.yaml"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    return path


def _refused(folder: Path, document: object) -> InvalidInputError:
    with pytest.raises(InvalidInputError) as refused:
        read_spec_file(_written(folder, document))
    assert refused.value.fix
    return refused.value


def test_spec_when_written_as_yaml_or_json_then_is_one_spec(folder: Path) -> None:
    (folder / "job.json").write_text(json.dumps(TRAIN), encoding="utf-8")

    assert read_spec_file(_written(folder, TRAIN)) == read_spec_file(folder / "job.json")


def test_files_beside_a_spec_when_its_program_takes_none_then_reach_the_program_as_code_and_inputs(
    folder: Path,
) -> None:
    """swarm-train/1 takes neither, so that they arrived is what its refusal shows."""
    for field in ({"code_file": "hooks.py"}, {"input_files": ["data.npz"]}):
        assert "takes neither code nor inputs" in _refused(folder, TRAIN | field).message


def test_parts_when_read_then_code_is_the_text_and_inputs_are_hashes(folder: Path) -> None:
    document = spec_files.include_files(TRAIN | {"code_file": "hooks.py", "input_files": ["data.npz"]}, folder)

    assert document.fields["code"] == "def load():\n    return 1\n"
    assert document.fields["inputs"] == [to_hex(keccak(b"\x00rows"))]
    assert not {"code_file", "input_files"} & set(document.fields)
    assert [file.read() for file in document.inputs] == [b"\x00rows"]


def test_input_when_changed_after_it_was_named_then_is_not_sent(folder: Path) -> None:
    (file,) = spec_files.include_files(TRAIN | {"input_files": ["data.npz"]}, folder).inputs
    (folder / "data.npz").write_bytes(b"others")

    with pytest.raises(InvalidInputError, match="has changed"):
        file.read()


@pytest.mark.parametrize(
    "name", ["../secret.key", "/etc/hostname", "link", "deep/../../secret.key", "", None, 5, "a\0b"]
)
@pytest.mark.parametrize("field", ["code_file", "input_files"])
def test_file_when_it_leaves_the_folder_then_is_refused(folder: Path, field: str, name: object) -> None:
    (folder / "link").symlink_to(folder.parent / "secret.key")

    error = _refused(folder, TRAIN | {field: name if field == "code_file" else [name]})

    assert field in error.message
    assert "secret\n" not in error.message


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"code_file": "gone.py"}, "cannot read the code_file"),
        ({"code_file": "."}, "cannot read the code_file"),
        ({"code_file": "data.bin"}, "UTF-8"),
        ({"code_file": "large.py"}, f"more than {MAX_CODE_BYTES} bytes"),
        ({"code_file": "hooks.py", "code": "x = 1"}, "both code and code_file"),
        ({"input_files": ["gone.npz"]}, "cannot read the input_files"),
        ({"input_files": "data.npz"}, "no list"),
        ({"input_files": ["data.npz"] * 65}, "no list of at most 64"),
        ({"input_files": ["data.npz"], "inputs": "0x"}, "inputs is no list"),
    ],
)
def test_file_when_missing_or_unfit_then_error_names_it(folder: Path, more: dict[str, Any], says: str) -> None:
    (folder / "data.bin").write_bytes(b"\xff\xfe")
    (folder / "large.py").write_text("#" * (MAX_CODE_BYTES + 1), encoding="utf-8")

    assert says in _refused(folder, TRAIN | more).message


@pytest.mark.parametrize(
    ("document", "says", "fix"),
    [
        ([], "no object", "kind"),
        ({"program": "swarm-train/1", "work": WORK}, "kind is missing", "train"),
        (TRAIN | {"kind": "paint"}, "no kind 'paint'", "train"),
        (TRAIN | {"kind": ["train"]}, "no kind", "train"),
        ({"kind": "train", "work": WORK}, "program is missing", "swarm-train/1"),
        (TRAIN | {"program": "swarm-train/9"}, "not one of kind train", "swarm-train/1"),
        (TRAIN | {"work": WORK | {"steps": "many"}}, "work.steps", "swarm job schema train"),
        (TRAIN | {"work": WORK | {"colour": 1}}, "work.colour", "swarm job schema train"),
        (TRAIN | {"colour": "blue"}, "colour", "colour"),
        (TRAIN | {"resources": {"workers": 0}}, "resources.workers", "resources.workers"),
        (TRAIN | {"placement": {"classes": ["tpu"]}}, "placement.classes", "placement.classes"),
        (TRAIN | {"work": WORK | {"learning_rate_micro": 0.5}}, "floats", "whole numbers"),
    ],
)
def test_spec_when_a_field_is_wrong_then_error_names_it_and_says_what_is_right(
    folder: Path, document: object, says: str, fix: str
) -> None:
    error = _refused(folder, document)

    assert says in error.message
    assert fix in error.fix


@pytest.mark.parametrize("text", ["a: [1", "!!python/object/apply:os.system ['true']", "2026-13-45: 1\n", "\x00"])
def test_text_when_it_is_no_yaml_then_is_refused(folder: Path, text: str) -> None:
    path = folder / "job.yaml"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(InvalidInputError):
        read_spec_file(path)


def test_inputs_when_named_by_hash_alone_then_are_left_to_the_gateway() -> None:
    """Nobody can check what an input holds before it is at hand; a train program refuses inputs at once."""
    with pytest.raises(InvalidInputError, match="takes neither"):
        check_spec(TRAIN | {"inputs": [to_hex(keccak(b"elsewhere"))]})


def test_programs_when_a_kind_has_some_then_are_named() -> None:
    assert "swarm-train/1" in programs_of("train")
