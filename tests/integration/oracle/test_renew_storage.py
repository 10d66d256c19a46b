"""`swarm oracle renew-storage` on a member's real store: volumes end, their keys are shown, nodes begin anew."""

import signal
from collections.abc import Callable, Iterator

import pytest

from node.oracle_client import JsonHttp
from node.ports import GivenVolume
from node.volume_client import HttpOracleVolumes
from oracle.pipeline.volume_secret import FILE_NAME
from oracle.store.engine import open_store
from oracle.store.volumes import volumes_of
from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.core.encoding import hash_from_hex, to_hex
from swarm_chain.core.errors import InvalidInputError, SwarmError
from swarm_chain.core.signing import domain_separator
from swarm_chain.core.storageset import VolumeKey, blocks, key_hash
from swarm_chain.core.units import Hash32
from swarm_chain.core.volumes import (
    BlocksConfirmed,
    BlocksRequest,
    VolumeRequest,
    blocks_hash,
    confirmed_hash,
    request_hash,
    volume_id,
)
from tests.integration.oracle.conftest import Epochs, Here
from tests.integration.oracle.process import MemberProgram, wait_until

HELD = 2  # blocks
Ask = Callable[[], object]


class Holder:
    """A node that keeps a volume for a running member."""

    def __init__(self, program: MemberProgram, key: KeySigner) -> None:
        deployment = program.net.deployment
        self.key, self.http = key, JsonHttp(program.url)
        self.member = HttpOracleVolumes(self.http, deployment)
        self.domain = domain_separator(deployment.chain_id, deployment.contracts["ChallengeBeacon"])

    def open(self, index: int = 0) -> GivenVolume:
        """Its volume, once the member has seen the node on the chain."""
        request = VolumeRequest(node=self.key.address, member=self.member.address(), index=index)
        signature = self.key.sign_typed(self.domain, request_hash(request))
        wait_until(lambda: not refused(lambda: self.member.open(request, signature)))
        return self.member.open(request, signature)

    def fetch(self, volume: Hash32) -> bytes:
        """The first blocks."""
        request = BlocksRequest(volume_id=volume, first=0, count=HELD)
        return self.member.blocks(request, self.key.sign_typed(self.domain, blocks_hash(request)))

    def confirm(self, volume: Hash32) -> int:
        """Says that they are on its disk."""
        confirmed = BlocksConfirmed(volume_id=volume, blocks=HELD)
        return self.member.confirm(confirmed, self.key.sign_typed(self.domain, confirmed_hash(confirmed)))

    def listed(self) -> list[dict[str, object]]:
        """Its volumes as everybody sees them, newest first."""
        found = self.http.get(f"/v1/volumes/{self.key.address}")["volumes"]
        assert isinstance(found, list)
        return found


def refused(ask: Ask) -> str:
    """Code of the error, empty if there is none."""
    try:
        ask()
    except SwarmError as error:
        return error.code
    return ""


@pytest.fixture
def stored(
    program: MemberProgram, epochs: Epochs, nodes: tuple[KeySigner, KeySigner]
) -> Iterator[tuple[Holder, GivenVolume, bytes]]:
    """A node that holds two confirmed blocks for a member, which runs; what was opened and the blocks."""
    epochs.begin()
    program.start()
    holder = Holder(program, nodes[0])
    given = holder.open()
    held = holder.fetch(volume_id(given.volume))
    assert holder.confirm(volume_id(given.volume)) == HELD
    yield holder, given, held
    holder.http.close()


@pytest.mark.long
def test_renew_storage_when_meant_then_keys_open_what_was_published_and_old_volumes_end(
    here: Here, program: MemberProgram, epochs: Epochs, stored: tuple[Holder, GivenVolume, bytes]
) -> None:
    (before, given, held), path = stored, program.home / FILE_NAME
    secret, (published,) = path.read_text(), before.listed()
    assert (published["retired"], published["key"], published["confirmed"]) == (False, None, HELD)
    program.end(signal.SIGTERM)

    assert here("--yes", "oracle", "renew-storage") == (0, {"retired": 1})

    assert path.read_text() != secret
    assert path.stat().st_mode & 0o777 == 0o600
    program.start()
    holder = Holder(program, before.key)
    (ended,) = holder.listed()
    key = VolumeKey(raw=hash_from_hex(str(ended["key"])), volume=given.volume)
    assert ended["retired"] is True
    assert to_hex(key_hash(key)) == ended["keyHash"] == published["keyHash"]
    assert blocks(key, 0, HELD) == held, "with the key anybody can repeat the audits"
    with pytest.raises(InvalidInputError) as caught:
        holder.confirm(volume_id(given.volume))
    assert caught.value.code == "volume_retired"

    epochs.begin()
    anew = holder.open()
    assert (anew.volume.index, anew.confirmed) == (given.volume.index + 1, 0), "what was held stopped counting"
    assert holder.listed()[0]["keyHash"] != published["keyHash"]
    holder.http.close()


@pytest.mark.long
def test_renew_storage_when_nobody_confirms_or_the_member_still_runs_then_nothing_changes(
    here: Here, program: MemberProgram, stored: tuple[Holder, GivenVolume, bytes]
) -> None:
    holder, path = stored[0], program.home / FILE_NAME
    secret, listed = path.read_text(), holder.listed()

    running_code, running = here("--yes", "oracle", "renew-storage")
    assert (running_code, running["error"]) == (4, "standby"), running
    assert holder.listed() == listed
    program.end(signal.SIGTERM)
    code, document = here("oracle", "renew-storage")

    assert (code, document["error"]) == (2, "confirmation_needed")
    assert path.read_text() == secret
    store = open_store(f"sqlite:///{program.home / 'oracle.db'}")
    assert [one.retired for one in volumes_of(store, holder.key.address, 2)] == [False]
    store.dispose()
