"""The storage secret: made once, its owner's alone, never in a text, never made again behind the operator's back."""

from pathlib import Path

import pytest

from oracle.pipeline.volume_secret import FILE_NAME, open_secret, write_secret
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InvalidInputError

RAW = keccak(b"unpredictable")


def entropy(size: int) -> bytes:
    """The same bytes each time."""
    return RAW[:size]


def test_secret_when_first_started_then_made_private_and_the_same_afterwards(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    made = open_secret(path, entropy, has_volumes=False)

    assert made is not None
    assert made.raw == RAW
    assert path.stat().st_mode & 0o777 == 0o600
    assert open_secret(path, keccak, has_volumes=True) == made  # type: ignore[arg-type]  # it is not called
    assert [one.name for one in tmp_path.iterdir()] == [FILE_NAME]


def test_secret_when_it_is_shown_then_it_hides(tmp_path: Path) -> None:
    made = open_secret(tmp_path / FILE_NAME, entropy, has_volumes=False)

    assert RAW.hex() not in repr(made)
    assert str(RAW) not in repr(made)


def test_secret_when_gone_but_there_are_volumes_then_none_is_made(tmp_path: Path) -> None:
    assert open_secret(tmp_path / FILE_NAME, entropy, has_volumes=True) is None
    assert not (tmp_path / FILE_NAME).exists()


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602])
def test_secret_when_others_may_read_or_write_it_then_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / FILE_NAME
    write_secret(path, entropy)
    path.chmod(mode)

    with pytest.raises(InvalidInputError, match="others may read it") as caught:
        open_secret(path, entropy, has_volumes=True)

    assert caught.value.exit_code == 3
    assert "chmod 600" in caught.value.fix


@pytest.mark.parametrize("text", ["", "xyz", RAW.hex()[:-2], RAW.hex() + "00", "\xff" * 64])
def test_secret_when_it_is_none_then_refused_without_showing_it(tmp_path: Path, text: str) -> None:
    path = tmp_path / FILE_NAME
    path.write_bytes(text.encode("latin-1"))
    path.chmod(0o600)

    with pytest.raises(InvalidInputError) as caught:
        open_secret(path, entropy, has_volumes=True)

    assert caught.value.code == "bad_storage_secret"
    assert caught.value.__cause__ is None
    assert not text or text not in str(caught.value)
