"""What an audited MB costs a member: making and hashing it, comparing what came back, against moving it bare over loopback.

The baseline is the same number of bytes sent from one socket to another in this process, once down and once up: no hash, no
payload, no HTTP. All are seconds of this process's CPU, sender and receiver of the bare transfer together.
"""

import argparse
import socket
from statistics import median
from threading import Thread
from time import process_time

from _report import Result, print_report, typical_ratio

from swarm_chain.core.encoding import keccak
from swarm_chain.core.network import BLOCK_BYTES
from swarm_chain.core.payload import PayloadKey, UploadCheck, payload_block, payload_key, payload_root, upload_order

KEY = payload_key(keccak(b"bench secret"), keccak(b"bench audit"))
DRAW = keccak(b"bench draw")
PIECE = 256 * 1024


def bare(size: int) -> None:
    """Moves bytes over loopback, down and up."""
    for _ in range(2):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            sender = Thread(target=_send, args=(listener.getsockname()[1], size))
            sender.start()
            taken, _ = listener.accept()
            with taken:
                while taken.recv(PIECE):
                    pass
            sender.join()


def audited(key: PayloadKey, blocks: int, upload: bytes) -> None:
    """Everything a member does with one payload but moving it."""
    payload_root(key.audit_id, (payload_block(key, index) for index in range(blocks)))
    check = UploadCheck(key, upload_order(DRAW, key.audit_id, blocks))
    assert all(check.feed(upload[at : at + PIECE]) for at in range(0, len(upload), PIECE)), "the check is wrong"
    assert check.complete, "the check is wrong"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mib", type=int, default=32, help="size of the payload")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    blocks = options.mib * 2**20 // BLOCK_BYTES
    upload = b"".join(payload_block(KEY, index) for index in upload_order(DRAW, KEY.audit_id, blocks))
    assert not UploadCheck(KEY, tuple(range(blocks))).feed(upload), "the check takes any order"
    moved, worked = [], []
    for _ in range(options.rounds):
        started = process_time()
        bare(len(upload))
        between = process_time()
        audited(KEY, blocks, upload)
        moved.append(between - started)
        worked.append(process_time() - between)
    megabytes = len(upload) / 1e6
    print_report("network", _figures(megabytes, moved, worked))


def _figures(megabytes: float, moved: list[float], worked: list[float]) -> list[Result]:
    cost = Result(
        name="CPU of an audited MB, both ways, over moving it bare",
        value=1000 * median(worked) / megabytes,
        unit="ms/MB",
        baseline=1000 * median(moved) / megabytes,
        ratio=typical_ratio(worked, moved),
    )
    rate = Result(
        name="bytes made or compared on one core", value=2 * 8 * megabytes / median(worked), unit="Mbit/s", goal=1000.0
    )
    return [cost, rate]


def _send(port: int, size: int) -> None:
    piece = bytes(PIECE)
    with socket.create_connection(("127.0.0.1", port)) as line:
        for _ in range(size // PIECE):
            line.sendall(piece)


if __name__ == "__main__":
    main()
