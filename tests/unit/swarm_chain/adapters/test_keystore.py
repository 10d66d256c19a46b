"""Key files: private, readable by Foundry, and clear about what is wrong with them."""

import json
import stat
from pathlib import Path

import pytest
from eth_account import Account

from swarm_chain.adapters.keystore import (
    KeySigner,
    change_password,
    create_keystore,
    export_key,
    find_keystore,
    import_key,
    keystore_dir,
    list_keystores,
    load_signer,
)
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.signing import recover, text_preimage
from swarm_chain.testing import FakeSigner

FAST = 2  # scrypt N: these files protect nothing
KEY = FakeSigner("alice").private_key
PASSWORD = "correct horse"


def test_created_key_loads_with_its_password_and_signs_for_its_address(tmp_path: Path) -> None:
    made = create_keystore(tmp_path / "keys", "alice", PASSWORD, scrypt_n=FAST)

    signer = load_signer(made.path, PASSWORD)

    assert signer.address == made.address
    assert recover(keccak(text_preimage(b"message")), signer.sign_text(b"message")) == made.address


def test_two_created_keys_differ(tmp_path: Path) -> None:
    made = [create_keystore(tmp_path, name, PASSWORD, scrypt_n=FAST).address for name in ("one", "two")]

    assert made[0] != made[1]


def test_file_is_the_owners_alone_and_holds_no_plain_key(tmp_path: Path) -> None:
    made = import_key(tmp_path / "keys", "alice", KEY, PASSWORD, scrypt_n=FAST)

    assert stat.S_IMODE(made.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(made.path.parent.stat().st_mode) == 0o700
    assert KEY.hex() not in made.path.read_text()


def test_file_is_a_keystore_v3_with_its_address_that_eth_account_opens(tmp_path: Path) -> None:
    made = import_key(tmp_path, "alice", KEY, PASSWORD, scrypt_n=FAST)

    document = json.loads(made.path.read_text())

    assert (document["version"], document["crypto"]["kdf"]) == (3, "scrypt")
    assert "0x" + document["address"].removeprefix("0x").lower() == FakeSigner("alice").address.lower()
    assert bytes(Account.decrypt(document, PASSWORD)) == KEY


def test_default_cost_of_a_guess_is_the_documented_one(tmp_path: Path) -> None:
    made = import_key(tmp_path, "alice", KEY, PASSWORD)

    assert json.loads(made.path.read_text())["crypto"]["kdfparams"]["n"] == 262_144


def test_key_of_a_file_without_an_address_loads_and_is_listed_without_one(tmp_path: Path) -> None:
    made = import_key(tmp_path, "cast", KEY, PASSWORD, scrypt_n=FAST)
    document = json.loads(made.path.read_text())
    del document["address"]
    made.path.write_text(json.dumps(document))

    assert load_signer(made.path, PASSWORD).address == FakeSigner("alice").address
    assert [found.address for found in list_keystores(tmp_path)] == [None]


@pytest.mark.parametrize(
    ("text", "password", "code"),
    [
        (None, PASSWORD, "keystore_missing"),
        ("", PASSWORD, "keystore_broken"),
        ("{}", PASSWORD, "keystore_broken"),
        ("[1]", PASSWORD, "keystore_broken"),
        ('{"version": 3, "crypto": {}}', PASSWORD, "keystore_broken"),
        ('{"version": 9, "crypto": {"kdf": "scrypt"}}', PASSWORD, "keystore_broken"),
        ("good", "wrong", "wrong_password"),
    ],
)
def test_file_that_does_not_open_says_why_with_exit_code_3(
    tmp_path: Path, text: str | None, password: str, code: str
) -> None:
    path = tmp_path / "alice"
    if text == "good":
        import_key(tmp_path, "alice", KEY, PASSWORD, scrypt_n=FAST)
    elif text is not None:
        path.write_text(text)

    with pytest.raises(InvalidInputError) as caught:
        load_signer(path, password)

    assert (caught.value.code, caught.value.exit_code) == (code, 3)
    assert caught.value.fix


def test_damaged_ciphertext_is_a_wrong_password_or_broken_but_never_another_key(tmp_path: Path) -> None:
    made = import_key(tmp_path, "alice", KEY, PASSWORD, scrypt_n=FAST)
    document = json.loads(made.path.read_text())
    document["crypto"]["ciphertext"] = document["crypto"]["ciphertext"][::-1]
    made.path.write_text(json.dumps(document))

    with pytest.raises(InvalidInputError):
        load_signer(made.path, PASSWORD)


def test_existing_file_is_never_overwritten(tmp_path: Path) -> None:
    made = import_key(tmp_path, "alice", KEY, PASSWORD, scrypt_n=FAST)
    before = made.path.read_bytes()

    with pytest.raises(InvalidInputError) as caught:
        create_keystore(tmp_path, "alice", PASSWORD, scrypt_n=FAST)

    assert (caught.value.code, caught.value.exit_code) == ("keystore_exists", 3)
    assert made.path.read_bytes() == before


@pytest.mark.parametrize("name", ["", "../evil", "a/b", ".hidden"])
def test_name_that_leaves_the_folder_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        create_keystore(tmp_path / "keys", name, PASSWORD, scrypt_n=FAST)

    assert caught.value.code == "bad_key_name"
    assert not list(tmp_path.rglob("*evil*"))


def test_empty_password_is_refused_and_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError) as caught:
        create_keystore(tmp_path, "alice", "", scrypt_n=FAST)

    assert caught.value.code == "empty_password"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("key", [b"", b"\1" * 31, bytes(32), b"\xff" * 32])
def test_bytes_that_are_no_key_are_refused_without_showing_them(key: bytes) -> None:
    with pytest.raises(InvalidInputError) as caught:
        KeySigner(key)

    assert caught.value.code == "bad_key"
    assert caught.value.__cause__ is None
    assert not key or key.hex() not in str(caught.value)


def test_changed_password_opens_and_the_old_one_does_not(tmp_path: Path) -> None:
    made = import_key(tmp_path, "alice", KEY, PASSWORD, scrypt_n=FAST)

    change_password(made.path, PASSWORD, "new", scrypt_n=FAST)

    assert export_key(made.path, "new") == KEY
    assert stat.S_IMODE(made.path.stat().st_mode) == 0o600
    with pytest.raises(InvalidInputError):
        export_key(made.path, PASSWORD)
    assert [path.name for path in tmp_path.iterdir()] == ["alice"]


def test_wrong_old_password_changes_nothing(tmp_path: Path) -> None:
    made = import_key(tmp_path, "alice", KEY, PASSWORD, scrypt_n=FAST)

    with pytest.raises(InvalidInputError):
        change_password(made.path, "wrong", "new", scrypt_n=FAST)

    assert export_key(made.path, PASSWORD) == KEY


def test_list_shows_keystores_by_name_and_leaves_other_files_out(tmp_path: Path) -> None:
    for name in ("bob", "alice"):
        import_key(tmp_path, name, KEY, PASSWORD, scrypt_n=FAST)
    (tmp_path / "notes.txt").write_text("buy milk")
    (tmp_path / "folder").mkdir()

    assert [found.name for found in list_keystores(tmp_path)] == ["alice", "bob"]
    assert find_keystore(tmp_path, "bob").address == FakeSigner("alice").address
    assert list_keystores(tmp_path / "nowhere") == ()
    with pytest.raises(InvalidInputError):
        find_keystore(tmp_path, "notes.txt")


def test_folder_is_foundrys_unless_named() -> None:
    assert keystore_dir() == Path.home() / ".foundry" / "keystores"
    assert keystore_dir("~/keys") == Path.home() / "keys"


def test_signer_shows_its_address_alone() -> None:
    signer = KeySigner(KEY)

    assert repr(signer) == f"KeySigner({signer.address})"
    assert KEY.hex() not in f"{signer!r} {signer}"


def test_key_signer_and_fake_signer_sign_alike() -> None:
    real, fake = KeySigner(KEY), FakeSigner("alice")
    domain, struct_hash = keccak(b"domain"), keccak(b"struct")

    assert real.sign_typed(domain, struct_hash) == fake.sign_typed(domain, struct_hash)
    assert real.sign_text(b"message") == fake.sign_text(b"message")
