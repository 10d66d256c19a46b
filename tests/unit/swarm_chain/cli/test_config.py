"""Settings of the command line: several oracle members in one setting, and which key they lead to."""

from pathlib import Path

import pytest

from swarm_chain.adapters.keystore import import_key
from swarm_chain.cli.config import Settings, load_settings
from swarm_chain.cli.keys import key_choice
from swarm_chain.core.errors import InvalidInputError


def test_oracle_url_when_several_are_named_then_each_stands_once_without_its_last_slash() -> None:
    settings = load_settings({"oracle_url": "http://127.0.0.1:1/, https://oracle.example,http://127.0.0.1:1"})

    assert settings.oracle_urls == ("http://127.0.0.1:1", "https://oracle.example")


@pytest.mark.parametrize("url", ["oracle.example", "http://a,oracle.example", "http://a,,http://b", "file:///x"])
def test_oracle_url_when_one_is_no_address_then_refused(url: str) -> None:
    with pytest.raises(InvalidInputError, match="oracle-url"):
        load_settings({"oracle_url": url})


def settings_of(folder: Path, **named: object) -> Settings:
    """Settings whose keystores lie in a folder."""
    return load_settings({"keystore_dir": folder, **named})


def test_key_when_none_is_named_and_the_folder_is_empty_then_none_is_configured(tmp_path: Path) -> None:
    choice = key_choice(settings_of(tmp_path))

    assert (choice.configured, choice.keystore) == (False, None)


def test_key_when_the_only_one_there_is_then_it_is_chosen(tmp_path: Path) -> None:
    made = import_key(tmp_path, "one", b"\1" * 32, "password", scrypt_n=1024)

    assert key_choice(settings_of(tmp_path)).keystore == made.path


def test_key_when_there_are_two_then_configured_but_not_chosen_until_one_is_named(tmp_path: Path) -> None:
    for number, name in enumerate(("one", "two"), start=1):
        import_key(tmp_path, name, bytes([number]) * 32, "password", scrypt_n=1024)

    assert key_choice(settings_of(tmp_path)).configured
    assert key_choice(settings_of(tmp_path)).keystore is None
    assert key_choice(settings_of(tmp_path, account="two")).keystore == tmp_path / "two"


def test_key_when_a_remote_signer_is_named_then_shown_without_its_password(tmp_path: Path) -> None:
    choice = key_choice(settings_of(tmp_path, signer_url="https://user:sesame@signer.example:9000/path"))

    assert (choice.configured, choice.keystore, choice.remote) == (True, None, "https://signer.example:9000")


def test_key_when_the_named_one_is_missing_then_configured_all_the_same(tmp_path: Path) -> None:
    assert key_choice(settings_of(tmp_path, account="gone")).configured
    assert key_choice(settings_of(tmp_path, keystore=tmp_path / "gone")).keystore == tmp_path / "gone"
