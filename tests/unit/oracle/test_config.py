"""Settings of a member: what is given, what the environment says, what is refused."""

import pytest

from oracle.config import load_settings
from swarm_chain.core.errors import InvalidInputError


def test_peers_when_several_are_given_then_each_stands_once_without_its_last_slash() -> None:
    settings = load_settings(peers="http://127.0.0.1:1/,https://oracle.example,http://127.0.0.1:1")

    assert settings.peer_urls == ("http://127.0.0.1:1", "https://oracle.example")


def test_peers_when_none_are_given_then_empty() -> None:
    assert load_settings().peer_urls == ()


@pytest.mark.parametrize("peers", ["oracle.example", "ftp://oracle.example", "http://a,,http://b", "http://a,b"])
def test_peers_when_one_is_no_address_then_refused(peers: str) -> None:
    with pytest.raises(InvalidInputError, match="peers"):
        load_settings(peers=peers)
