"""Export: what is written can be audited without any member, goes on where it stopped, and is never half there."""

import json
from pathlib import Path

import pytest

from oracle.audit import Finding, audit_range
from oracle.export import Export, Exported, FolderSource, export_range
from swarm_chain.core.encoding import sha256_digest, to_hex
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from tests.audit_world import MEMBER, AuditWorld, Shelf, flip


@pytest.fixture(scope="module")
def world() -> AuditWorld:
    """Reports of epochs 0, 1 and 3; epoch 2 has none."""
    made = AuditWorld()
    made.settle()
    made.settle()
    made.pass_epoch()
    made.settle()
    return made


def exported(world: AuditWorld, folder: Path, shelf: Shelf | None = None, last: int = 3) -> list[Exported]:
    """An export of epochs 0 to `last`."""
    export = Export(folder, world.network)
    return list(export_range(export, world.auditor(shelf or world.shelf()), 0, last, lambda *_: None))


def test_export_when_finished_then_an_audit_of_the_folder_needs_no_member(world: AuditWorld, tmp_path: Path) -> None:
    done = exported(world, tmp_path)

    found = list(audit_range(world.auditor(FolderSource(folder=tmp_path)), 0, 3))

    assert [one.written for one in done] == [True, True, False, True]
    assert [one.finding.value for one in found] == ["equal", "equal", "no report", "equal"]
    assert [one.replayed_hash for one in found if one.evidence] == [p.report_hash for p in world.published.values()]


def test_export_when_finished_then_the_index_names_every_file_by_its_sha256(world: AuditWorld, tmp_path: Path) -> None:
    exported(world, tmp_path)

    index = json.loads((tmp_path / "index.json").read_bytes())

    assert (index["domain"], index["chainId"]) == ("swarm/export/v1", world.network.chain_id)
    assert set(index["epochs"]) == {"0", "1", "3"}
    member = f"verdicts/{MEMBER.address}"
    assert set(index["epochs"]["1"]) == {"manifest", "bundle", "state", "shards/0", member, "dump", "explain.jsonl"}
    for epoch, files in index["epochs"].items():
        for name, digest in files.items():
            content = (tmp_path / "epochs" / epoch / name).read_bytes()
            assert to_hex(sha256_digest(content)) == digest
    on_disk = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert on_disk == {"index.json"} | {f"epochs/{e}/{n}" for e, files in index["epochs"].items() for n in files}


def test_export_when_finished_then_every_provider_is_explained_and_the_tree_dumped(
    world: AuditWorld, tmp_path: Path
) -> None:
    exported(world, tmp_path, last=0)

    lines = (tmp_path / "epochs" / "0" / "explain.jsonl").read_text().splitlines()
    dump = json.loads((tmp_path / "epochs" / "0" / "dump").read_bytes())

    assert [json.loads(line)["providerId"] for line in lines] == [1, 2]
    assert dump["tree"][0] == to_hex(world.published[0].report.root)


def test_export_when_run_again_then_nothing_is_written_twice(world: AuditWorld, tmp_path: Path) -> None:
    exported(world, tmp_path, last=1)
    before = (tmp_path / "epochs" / "0" / "bundle").stat().st_mtime_ns

    again = exported(world, tmp_path)

    assert [(one.written, one.kept) for one in again] == [(False, True), (False, True), (False, False), (True, False)]
    assert (tmp_path / "epochs" / "0" / "bundle").stat().st_mtime_ns == before


def test_export_when_it_was_interrupted_then_the_rest_of_it_is_swept_and_it_goes_on(
    world: AuditWorld, tmp_path: Path
) -> None:
    exported(world, tmp_path, last=0)
    for half in (tmp_path / "epochs" / ".1.part", tmp_path / "epochs" / "1"):
        half.mkdir()
        (half / "manifest").write_bytes(b"half a man")

    again = exported(world, tmp_path)

    assert again[1].written
    assert (tmp_path / "epochs" / "1" / "manifest").read_bytes() == world.published[1].manifest
    assert not (tmp_path / "epochs" / ".1.part").exists()


@pytest.mark.parametrize("name", ["manifest", "shards/0", "explain.jsonl"])
def test_export_when_a_file_was_changed_or_lost_then_written_anew(world: AuditWorld, tmp_path: Path, name: str) -> None:
    exported(world, tmp_path, last=1)
    (tmp_path / "epochs" / "0" / name).write_bytes(b"something else")
    (tmp_path / "epochs" / "1" / name).unlink()

    again = exported(world, tmp_path, last=1)

    assert [one.written for one in again] == [True, True]
    assert exported(world, tmp_path, last=1)[0].kept


def test_export_when_an_epoch_differs_then_it_is_left_out_and_the_others_are_written(
    world: AuditWorld, tmp_path: Path
) -> None:
    liar = world.shelf()
    liar.damaged[1, "state"] = flip(5)

    done = exported(world, tmp_path, liar)

    assert done[1].audit.finding is Finding.DIFFERENT
    assert [one.written for one in done] == [True, False, False, True]
    assert set(json.loads((tmp_path / "index.json").read_bytes())["epochs"]) == {"0", "3"}


def test_audit_when_a_byte_of_the_folder_was_changed_then_epoch_and_shard_are_named(
    world: AuditWorld, tmp_path: Path
) -> None:
    exported(world, tmp_path)
    shard = tmp_path / "epochs" / "1" / "shards" / "0"
    shard.write_bytes(flip(17)(shard.read_bytes()))

    found = list(audit_range(world.auditor(FolderSource(folder=tmp_path)), 0, 3))

    assert [one.finding.value for one in found] == ["equal", "different", "no report", "equal"]
    assert "shards/0 differs from byte 17" in found[1].faults


def test_audit_when_the_folder_lacks_an_epoch_then_unavailable(world: AuditWorld, tmp_path: Path) -> None:
    exported(world, tmp_path, last=0)

    found = list(audit_range(world.auditor(FolderSource(folder=tmp_path)), 0, 1))

    assert [one.finding.value for one in found] == ["equal", "unavailable"]


def test_audit_when_a_file_of_the_folder_is_too_large_then_unavailable_and_not_read(
    world: AuditWorld, tmp_path: Path
) -> None:
    exported(world, tmp_path, last=0)
    with (tmp_path / "epochs" / "0" / "shards" / "0").open("r+b") as file:
        file.truncate(2**40)

    (found,) = audit_range(world.auditor(FolderSource(folder=tmp_path)), 0, 0)

    assert found.finding is Finding.UNAVAILABLE
    assert "more than 64 bytes" in found.faults[0]


@pytest.mark.parametrize("content", [b"{}", b"no json", b"[]", b'{"domain":"swarm/export/v1","chainId":1}'])
def test_export_when_the_folder_is_something_else_then_refused(
    world: AuditWorld, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "index.json").write_bytes(content)

    with pytest.raises(InvalidInputError) as refused:
        Export(tmp_path, world.network)

    assert refused.value.exit_code == 3


def test_export_when_the_folder_cannot_be_made_then_says_why(world: AuditWorld, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(UnavailableError, match="cannot write"):
        Export(tmp_path / "file" / "below", world.network)
