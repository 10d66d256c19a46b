"""What a key signed outlives the database, a crash in mid-write, and a second process that asks."""

from pathlib import Path

import pytest

from oracle.pipeline.sign_log import SignLog
from swarm_chain.core.errors import InconsistentError, InvalidInputError
from swarm_chain.core.units import EpochNumber, Hash32
from tests.member_world import MemberWorld

EPOCH = EpochNumber(3)
FIRST, SECOND = Hash32(b"\1" * 32), Hash32(b"\2" * 32)


def test_log_when_opened_again_then_it_still_knows(world: MemberWorld, tmp_path: Path) -> None:
    member, path = world.signer.address, tmp_path / "log"
    SignLog(path).record(member, EPOCH, FIRST)

    again = SignLog(path)

    assert again.signed(member, EPOCH) == FIRST
    assert again.signed(member, EpochNumber(4)) is None
    again.record(member, EPOCH, FIRST)  # the same word twice is one word
    with pytest.raises(InconsistentError) as raised:
        again.record(member, EPOCH, SECOND)
    assert raised.value.code == "signed_before"


def test_log_when_the_last_line_is_torn_then_the_whole_ones_stay(world: MemberWorld, tmp_path: Path) -> None:
    member, path = world.signer.address, tmp_path / "log"
    SignLog(path).record(member, EPOCH, FIRST)
    path.write_text(path.read_text() + f"4 {member} 0x12")

    torn = SignLog(path)
    torn.record(member, EpochNumber(4), SECOND)

    assert SignLog(path).signed(member, EPOCH) == FIRST
    assert SignLog(path).signed(member, EpochNumber(4)) == SECOND


@pytest.mark.parametrize("content", ["3 only-two\n", "x y 0x00\n", "\xff\xfe\n"])
def test_log_when_it_is_damaged_then_the_member_does_not_start(tmp_path: Path, content: str) -> None:
    path = tmp_path / "log"
    path.write_bytes(content.encode("latin-1"))

    with pytest.raises(InvalidInputError, match="cannot be read") as raised:
        SignLog(path)
    assert raised.value.exit_code == 3
