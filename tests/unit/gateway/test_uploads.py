"""Contents and logs over HTTP."""

from dataclasses import replace
from pathlib import Path

import pytest

from swarm_chain.core.packing import packed
from tests.gateway_world import ALICE, BOB, LIDS, STRANGER, GatewayWorld, honest_contents


def test_content_is_kept_and_read_by_the_customer_alone(world: GatewayWorld) -> None:
    world.accepted_job()

    assert world.put_content(0, b"first").json() == {"duplicate": False}
    assert world.put_content(0, b"first").json() == {"duplicate": True}

    assert world.read("contents/0").content == b"first"
    assert world.read("contents/0", STRANGER).json()["error"] == "wrong_signer"
    assert world.read("contents/1").status_code == 404


def test_content_replaced_before_the_receipt_leaves_one_file(world: GatewayWorld) -> None:
    world.accepted_job()
    world.put_content(1, b"a crashed attempt")
    world.put_content(1, b"the next one")

    assert world.read("contents/1").content == b"the next one"
    assert len(list((world.folder / "jobs" / "1").iterdir())) == 1


def test_content_that_is_not_of_the_signed_hash_is_refused(world: GatewayWorld) -> None:
    world.accepted_job()

    answer = world.put_content(0, b"sent", claimed=b"signed")

    assert answer.status_code == 422
    assert answer.json()["error"] == "wrong_signer"
    assert world.read("contents/0").status_code == 404


@pytest.mark.parametrize("late", [31, -31])
def test_content_signed_at_another_time_is_refused(world: GatewayWorld, late: int) -> None:
    world.accepted_job()

    assert world.put_content(0, b"late", late=late).json()["error"] == "stale"


def test_content_of_another_node_is_refused(world: GatewayWorld) -> None:
    world.accepted_job()

    assert world.put_content(0, b"x", node=BOB).json()["error"] == "wrong_node"
    assert world.put_content(0, b"x", node=ALICE, key=BOB).json()["error"] == "wrong_signer"


def test_content_the_program_does_not_have_is_refused(world: GatewayWorld) -> None:
    world.accepted_job()

    assert world.put_content(3, b"x").json()["error"] == "unknown_content"
    assert world.put_content(2, b"x").status_code == 201


def test_content_of_an_unknown_or_waiting_job_is_refused(world: GatewayWorld) -> None:
    assert world.put_content(0, b"x").status_code == 404
    world.announce()
    world.post_job()
    assert world.put_content(0, b"x").json()["error"] == "not_accepted"


def test_content_larger_than_members_take_is_refused(world: GatewayWorld) -> None:
    world.accepted_job()

    assert world.put_content(0, bytes(12_000_001)).status_code == 413


def test_content_that_comes_packed_is_kept_as_it_was(world: GatewayWorld) -> None:
    world.accepted_job()
    content = honest_contents()[0]

    assert world.put_content(0, content, wire=(packed(content), "deflate")).status_code == 201
    assert world.read("contents/0").content == content


def test_packed_content_is_held_to_the_lid_of_what_is_in_it(world: GatewayWorld) -> None:
    world.accepted_job()

    assert world.put_content(0, b"", wire=(packed(bytes(100_000_000)), "deflate")).status_code == 413


@pytest.mark.parametrize(
    ("wire", "encoding"), [(b"nonsense", "deflate"), (packed(b"whole")[:-2], "deflate"), (b"whole", "br")]
)
def test_packed_content_that_is_broken_or_unknown_is_refused(world: GatewayWorld, wire: bytes, encoding: str) -> None:
    world.accepted_job()

    answer = world.put_content(0, b"whole", wire=(wire, encoding))
    assert (answer.status_code, answer.json()["error"]) == (422, "bad_encoding")


def test_contents_of_a_job_have_a_lid_together(tmp_path: Path) -> None:
    world = GatewayWorld(tmp_path, lids=replace(LIDS, job_bytes=10))
    world.accepted_job()

    assert world.put_content(0, b"123456").status_code == 201
    assert world.put_content(1, b"123456").status_code == 413
    world.close()


def test_full_store_is_said_so(tmp_path: Path) -> None:
    world = GatewayWorld(tmp_path, lids=replace(LIDS, store_bytes=10))
    world.accepted_job()

    assert world.put_content(0, bytes(11)).json()["error"] == "store_full"
    world.close()


def test_content_after_the_receipt_is_refused(world: GatewayWorld) -> None:
    world.accepted_job()
    world.put_contents(honest_contents())
    assert world.post_receipt(honest_contents()).status_code == 200

    assert world.put_content(0, b"something else").json()["error"] == "receipt_countersigned"
    assert world.read("contents/0").content == honest_contents()[0]


def test_log_grows_where_it_ends_and_nowhere_else(world: GatewayWorld) -> None:
    world.accepted_job()

    assert world.add_log("unit 1 → done\n", 0).json() == {"next": 16}
    assert world.add_log("unit 1 → done\n", 0).json() == {"next": 16}  # sent twice
    gap = world.add_log("unit 3\n", 30)
    assert gap.status_code == 409
    assert (gap.json()["error"], gap.json()["values"]["next"]) == ("log_offset", 16)
    assert world.add_log("other words", 0).json()["error"] == "log_offset"
    assert world.add_log("unit 2\n", 16).json() == {"next": 23}

    assert world.read("log").json() == {"offset": 0, "next": 23, "text": "unit 1 → done\nunit 2\n", "ended": False}
    assert world.read("log?offset=16").json()["text"] == "unit 2\n"
    assert world.read("log?offset=9").json()["error"] == "log_offset"  # inside the arrow


def test_log_ends_with_the_receipt(world: GatewayWorld) -> None:
    world.accepted_job()
    world.add_log("failed\n", 0)
    assert world.post_receipt(()).status_code == 200

    assert world.read("log").json()["ended"] is True


def test_long_log_is_read_in_pieces_of_whole_characters(world: GatewayWorld) -> None:
    world.accepted_job()
    world.add_log("a" + "→" * 20_000, 0)
    world.add_log("→" * 10_000, 60_001)

    first = world.read("log").json()
    second = world.read(f"log?offset={first['next']}").json()

    assert first["text"] + second["text"] == "a" + "→" * 30_000
    assert (first["ended"], second["next"]) == (False, 90_001)


def test_log_of_others_is_refused(world: GatewayWorld) -> None:
    world.accepted_job()

    assert world.add_log("x", 0, key=BOB).json()["error"] == "wrong_signer"
    assert world.read("log", ALICE).json()["error"] == "wrong_signer"


def test_log_beyond_its_lids_is_refused(world: GatewayWorld) -> None:
    world.accepted_job()

    assert world.add_log("x" * (64 * 1024 + 1), 0).status_code == 413
    assert world.add_log("x", LIDS.log_bytes).status_code == 413
