"""Another member over HTTP: what its URL holds besides the host stays out of logs and errors."""

import pytest

from oracle.pipeline.peers import HttpPeer
from swarm_chain.core.errors import UnavailableError


def test_peer_when_its_url_holds_a_password_then_neither_name_nor_error_repeats_it() -> None:
    peer = HttpPeer("http://operator:hunter2@127.0.0.1:9/members?key=hunter2")

    with pytest.raises(UnavailableError) as caught:
        peer.get_bytes("/v1/status")
    peer.close()

    assert peer.name == "http://127.0.0.1:9"
    assert caught.value.message == "member http://127.0.0.1:9 does not answer (ConnectError)"
