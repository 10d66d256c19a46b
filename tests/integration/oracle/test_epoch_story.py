"""One epoch with two working nodes, from open windows to a report on chain that anybody can replay."""

import json
import signal
import sqlite3
from pathlib import Path

from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.devnet import Devnet
from swarm_chain.params import load_params
from tests.integration.oracle.conftest import Epochs, Here
from tests.integration.oracle.process import MemberProgram, pace, wait_until
from tests.integration.oracle.worker import Worker

WITHIN_S = 120
ACT_S = 0.05
FOLLOWS_BEHIND = 4  # blocks; a window is open for twenty


def test_epoch_of_two_nodes_is_paid_replays_to_the_byte_and_a_changed_byte_is_named(
    chain: Devnet,
    epochs: Epochs,
    nodes: tuple[KeySigner, KeySigner],
    program: MemberProgram,
    here: Here,
    tmp_path: Path,
) -> None:
    member = program
    epoch = epochs.begin()
    epochs.own_time()
    member.start()
    workers = [Worker(signer=node, members=(member,), params=load_params("minimal")) for node in nodes]
    _work_through(epoch, workers, member)
    epochs.end(epoch)
    wait_until(lambda: epochs.has_report(epoch), chain.mine, WITHIN_S)
    assert (epochs.events("Voted", epoch), epochs.events("ReportSubmitted", epoch)) == (1, 1)

    verdicts = [v for v in member.said("verdict") if v["window"] >> 16 == epoch]
    assert [v["outcome"] for v in verdicts] == ["passed"] * 4
    for provider in (1, 2):
        leaf = member.get(f"/v1/epochs/{epoch}/proofs/{provider}")["leaf"]
        assert int(leaf["cumRewardWei"]) > 0
    _replays(member, epoch)
    _tampered_bundle_is_named(member, epoch, here)
    _audits_without_the_member(member, epoch, tmp_path, here)
    assert member.end(signal.SIGTERM) == 0


def _work_through(epoch: int, workers: list[Worker], member: MemberProgram) -> None:
    def steps() -> None:
        for worker in workers:
            worker.step()
        pace(member.net, lambda: [member], behind=FOLLOWS_BEHIND, act_s=ACT_S)

    windows = {epoch << 16, epoch << 16 | 1}
    wait_until(lambda: all(worker.proven >= windows for worker in workers), steps, WITHIN_S)
    wait_until(lambda: {v["window"] for v in member.said("verdict")} >= windows, within_s=WITHIN_S)


def _replays(member: MemberProgram, epoch: int) -> None:
    done = member.run("--json", "--oracle-url", member.url, "oracle", "replay", "--epoch", str(epoch))
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["matches"] is True
    assert document["reportHash"] == document["replayedHash"] != "0x" + bytes(32).hex()
    signed = member.get(f"/v1/epochs/{epoch}/verdicts")
    assert len(signed["passed"]) == 4
    assert signed["passedRoot"] == document["passedRoot"]


def _tampered_bundle_is_named(member: MemberProgram, epoch: int, here: Here) -> None:
    """Changes the last byte of the published shard, then of the state, as a lying member would."""
    for name in ("shards/0", "state"):
        with sqlite3.connect(member.home / "oracle.db") as store:
            query = "SELECT content FROM documents WHERE epoch = ? AND name = ?"
            (honest,) = store.execute(query, (epoch, name)).fetchone()
            at = len(honest) - 2
            false = honest[:at] + bytes([honest[at] ^ 1]) + honest[at + 1 :]
            update = "UPDATE documents SET content = ? WHERE epoch = ? AND name = ?"
            store.execute(update, (false, epoch, name))
        code, found = here("--oracle-url", member.url, "oracle", "replay", "--epoch", str(epoch))
        assert code == 70, found
        assert f"{name} differs from byte {at}" in found["message"]
        with sqlite3.connect(member.home / "oracle.db") as store:
            store.execute(update, (honest, epoch, name))


def _audits_without_the_member(member: MemberProgram, epoch: int, folder: Path, here: Here) -> None:
    """Exports all epochs, audits the folder alone, and finds the one byte that was changed in it."""
    span = ("--from", "0", "--to", str(epoch))
    exported, told = here("--oracle-url", member.url, "oracle", "export", *span, "--out", str(folder / "out"))
    assert exported == 0, told
    audit = ("oracle", "audit", *span, "--from-folder", str(folder / "out"))
    code, found = here(*audit)
    assert code == 0, found
    findings = [one["finding"] for one in found["epochs"]]
    assert len(findings) == epoch + 1
    assert findings[-1] == "equal"
    shard = folder / "out" / "epochs" / str(epoch) / "shards" / "0"
    shard.write_bytes(bytes([shard.read_bytes()[0] ^ 1]) + shard.read_bytes()[1:])
    code, found = here(*audit)
    assert code == 70, found
    assert f"epoch {epoch}: shards/0 differs from byte 0" in found["message"]
    code, found = here("--oracle-url", f"http://127.0.0.1:9,{member.url}", "oracle", "audit", *span)
    assert code == 0, found
