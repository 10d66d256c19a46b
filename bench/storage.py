"""Verifying a storage audit, generating, handing out and answering, against hashing as many bytes one after the other.

Handing out is a member's whole path: signature checked, blocks booked in its store, made, and sent by its HTTP application.

The baseline is SHA-256 over 4096-byte pieces in memory: no key, no chain, no disk.
"""

import argparse
import tempfile
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from statistics import median

from _member import member_on, node_of, open_chain
from _report import Result, print_report, seconds_of, typical_ratio
from starlette.testclient import TestClient

from node.measure.storage import VolumeFile
from node.oracle_client import JsonHttp
from node.volume_client import HttpOracleVolumes
from oracle.api.app import create_app
from oracle.judge.storage import StorageCase, judge_storage
from oracle.logs import log_as_json
from oracle.pipeline.volume_secret import VolumeSecret
from oracle.pipeline.volumes import Volumes
from swarm_chain.core.encoding import keccak
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.storageset import BLOCK_BYTES, StorageAudit, Volume, VolumeKey, blocks, volume_key
from swarm_chain.core.units import Address, EpochNumber, Hash32, Signature
from swarm_chain.core.volumes import (
    MAX_SENT_AT_ONCE,
    BlocksRequest,
    VolumeRequest,
    blocks_hash,
    request_hash,
    volume_id,
)
from swarm_chain.params import load_params
from swarm_chain.testing import FakeSigner

VOLUME = Volume(
    chain_id=31337,
    beacon=Address("0x00000000000000000000000000000000000bEaC0"),
    member=Address("0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65"),
    node=Address("0x70997970C51812dc3A010C7d01b50e0d17dc79C8"),
    epoch=EpochNumber(1),
    index=0,
)
PARAMS = load_params("mainnet").storage
AT_ONCE = 250  # blocks generated and appended at a time: a MB, as they would be sent


def filled(folder: Path, key: VolumeKey, count: int) -> VolumeFile:
    """A volume of so many blocks on disk."""
    file = VolumeFile(folder, key.volume)
    while file.blocks < count:
        file.append(file.blocks, blocks(key, file.blocks, min(AT_ONCE, count - file.blocks)))
    return file


def honest_case(file: VolumeFile, key: VolumeKey, reads: int) -> StorageCase:
    """An audit of the whole volume with its honest answer; the judge is seen to refuse a false one."""
    audit = StorageAudit(volume=key.volume, blocks=file.blocks, nonce=keccak(b"bench"), reads=reads)
    params = replace(PARAMS, reads=reads)
    case = StorageCase(
        key=key, audit=audit, uploaded=file.blocks, params=params, elapsed_ms=1000, answer=file.answer(audit)
    )
    assert case.answer is not None
    false_case = replace(case, answer=replace(case.answer, digest=keccak(b"false")))
    outcomes = [judge_storage(one).outcome for one in (case, false_case)]
    assert outcomes == [Outcome.PASSED, Outcome.FAILED], "the judge is wrong"
    return case


class HandingOut:
    """A member in this process and a node that fetches as many blocks as an audit reads, again and again."""

    def __init__(self, folder: Path, reads: int) -> None:
        chain = open_chain(1, 0)
        found = member_on(chain, folder)
        desk = replace(found.desk, network=replace(found.network, params=load_params("mainnet")))
        key, self._node = FakeSigner("member"), node_of(0)
        secret = VolumeSecret(raw=keccak(b"bench secret"))
        member = replace(found, desk=desk, volumes=Volumes(desk=desk, member=key.address, secret=secret))
        self._keeper = member.keeper
        self._keeper.keep()
        member.follower.poll()
        self._engine, self._domain, self._reads = member.engine, desk.domain, reads
        client = TestClient(create_app(member, chain.deployment.contracts))
        self._member = HttpOracleVolumes(JsonHttp("http://member", client), chain.deployment)
        request = VolumeRequest(node=self._node.address, member=key.address, index=0)
        self._volume = volume_id(self._member.open(request, self._signed(request_hash(request))).volume)

    def __call__(self) -> None:
        """Fetches the blocks, which are not confirmed and so may be sent again as far as the epoch's share goes."""
        self._keeper.keep()  # no clock ticks here that would
        for first in range(0, self._reads, MAX_SENT_AT_ONCE):
            count = min(MAX_SENT_AT_ONCE, self._reads - first)
            request = BlocksRequest(volume_id=self._volume, first=first, count=count)
            self._member.blocks(request, self._signed(blocks_hash(request)))

    def close(self) -> None:
        """Gives the store back."""
        self._engine.dispose()

    def _signed(self, struct_hash: Hash32) -> Signature:
        return self._node.sign_typed(self._domain, struct_hash)


def measure(file: VolumeFile, key: VolumeKey, hand_out: HandingOut, reads: int, rounds: int) -> list[list[float]]:
    """Seconds of each round of bare hashing, judging, generating as many blocks, handing them out, and answering."""
    case, content = honest_case(file, key, reads), blocks(key, 0, 1)

    def hash_bare() -> None:
        for _ in range(reads):
            sha256(content).digest()

    def generate() -> None:
        for first in range(0, reads, AT_ONCE):
            blocks(key, first, min(AT_ONCE, reads - first))

    return seconds_of(
        hash_bare,
        lambda: judge_storage(case),
        generate,
        hand_out,
        lambda: file.answer(case.audit),
        rounds=rounds,
    )


def figures(count: int, times: list[list[float]], path: str) -> list[Result]:
    """What the seconds of each round mean, for audits of so many reads."""
    bare, judging, generating, handing_out, answering = times
    megabytes = count * BLOCK_BYTES / 1e6
    verify = Result(name="an audit verified", value=median(judging), unit="s", goal=2.0)
    share = Result(
        name="verifying over bare hashing",
        value=median(judging),
        unit="s",
        baseline=median(bare),
        ratio=typical_ratio(judging, bare),
    )
    rate = Result(
        name="blocks generated",
        value=megabytes / median(generating),
        unit="MB/s",
        baseline=megabytes / median(bare),
        ratio=typical_ratio(bare, generating),
    )
    sent = Result(
        name="blocks handed out by a member's HTTP application, one node",
        value=megabytes / median(handing_out),
        unit="MB/s",
        baseline=megabytes / median(bare),
        ratio=typical_ratio(bare, handing_out),
    )
    reads = Result(
        name=f"reads answered by an honest node, {path}",
        value=count / median(answering),
        unit="reads/s",
        baseline=count / median(bare),
        ratio=typical_ratio(bare, answering),
    )
    return [verify, share, rate, sent, reads]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reads", type=int, default=10_000, help="dependent reads of the audit")
    parser.add_argument("--mib", type=int, default=256, help="size of the volume on disk")
    parser.add_argument(
        "--folder", type=Path, default=None, help="on the disk to measure; default: the temporary folder"
    )
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    log_as_json()
    key = volume_key(keccak(b"bench secret"), VOLUME)
    count = options.mib * 2**20 // BLOCK_BYTES
    with tempfile.TemporaryDirectory(dir=options.folder) as folder, filled(Path(folder), key, count) as file:
        with tempfile.TemporaryDirectory() as home:
            hand_out = HandingOut(Path(home), options.reads)
            times = measure(file, key, hand_out, options.reads, options.rounds)
            hand_out.close()
        path = "O_DIRECT" if file.direct else "page cache told to forget"
    print_report("storage", figures(options.reads, times, path))


if __name__ == "__main__":
    main()
