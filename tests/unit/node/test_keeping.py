"""State file, lock, pace and settings."""

import os
import stat
from pathlib import Path

import pytest

from node.config import load_settings, prepare_ray_environment
from node.pace import FIRST_MS, LONGEST_MS, REFUSED_MS, Pace
from node.records import StoredRun, forget_heads, key_of, load_run, own_commitments, save_commitment
from node.state import SCHEMA, is_held, next_sequence, only_agent, open_state
from swarm_chain.adapters.private_files import read_private, write_private
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InconsistentError, InvalidInputError, RejectedError, UnavailableError
from swarm_chain.core.model import Commitment, SignedCommitment
from swarm_chain.core.units import Signature, WindowId
from swarm_chain.testing import FakeClock, FakeSigner

NODE = FakeSigner("node").address
FIRST = WindowId(65536)


def _run(root: bytes, seed: bytes = b"seed") -> StoredRun:
    commitment = Commitment(
        window_id=FIRST, window_seed=keccak(seed), node=NODE, device=0, m=64, n=64, steps=2, root=keccak(root)
    )
    signed = SignedCommitment(commitment=commitment, signature=Signature(bytes(65)))
    return StoredRun(signed=signed, heads=bytes(64 * 64))


def test_second_root_for_a_window_is_refused_and_the_first_stays(tmp_path: Path) -> None:
    state = open_state(tmp_path / "state.sqlite", NODE)
    first = save_commitment(state, _run(b"first"))
    assert save_commitment(state, _run(b"first")) == first
    with pytest.raises(InconsistentError, match="another root"):
        save_commitment(state, _run(b"second"))
    assert load_run(state, key_of(first.commitment), NODE).signed == first


def test_window_opened_anew_gets_a_commitment_of_its_own(tmp_path: Path) -> None:
    state = open_state(tmp_path / "state.sqlite", NODE)
    left, new = _run(b"first"), _run(b"second", seed=b"seed of another branch")
    for run in (left, new):
        assert save_commitment(state, run) == run.signed
        assert load_run(state, key_of(run.signed.commitment), NODE) == run


def test_commitments_signed_without_a_seed_are_dropped_and_the_sequence_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    old = open_state(path, NODE)
    next_sequence(old)
    old.executescript("DROP TABLE commitments; PRAGMA user_version = 0;")
    old.executescript(SCHEMA.replace("PRIMARY KEY (window_id, window_seed, device)", "PRIMARY KEY (window_id, device)"))
    save_commitment(old, _run(b"first"))
    old.close()

    state = open_state(path, NODE)

    assert own_commitments(state, NODE) == ()
    assert next_sequence(state) == 2
    save_commitment(state, _run(b"first"))
    save_commitment(open_state(path, NODE), _run(b"second", seed=b"seed of another branch"))
    assert len(own_commitments(open_state(path, NODE), NODE)) == 2


def test_forgotten_heads_still_bar_a_second_root(tmp_path: Path) -> None:
    state = open_state(tmp_path / "state.sqlite", NODE)
    save_commitment(state, _run(b"first"))
    forget_heads(state, WindowId(FIRST + 1))
    assert own_commitments(state, NODE) == ()
    with pytest.raises(InconsistentError, match="another root"):
        save_commitment(state, _run(b"second"))


def test_unknown_run_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InconsistentError, match="no commitment"):
        load_run(open_state(tmp_path / "state.sqlite", NODE), key_of(_run(b"unknown").signed.commitment), NODE)


def test_sequence_only_grows_across_openings(tmp_path: Path) -> None:
    taken = [next_sequence(open_state(tmp_path / "state.sqlite", NODE)) for _ in range(3)]
    assert taken == [1, 2, 3]


def test_folder_is_held_by_one_agent(tmp_path: Path) -> None:
    assert not is_held(tmp_path / "absent")
    with only_agent(tmp_path):
        assert is_held(tmp_path)
        with pytest.raises(InvalidInputError, match="another agent"), only_agent(tmp_path):
            pass
    assert not is_held(tmp_path)


def test_pace_doubles_while_a_part_is_away_and_forgets_when_it_works() -> None:
    clock = FakeClock()
    pace = Pace(clock)
    away = UnavailableError("away")
    waits = [pace.failed("chain", away) for _ in range(8)]
    assert waits[:3] == [FIRST_MS, 2 * FIRST_MS, 4 * FIRST_MS]
    assert waits[-1] == LONGEST_MS
    assert not pace.due("chain")
    assert pace.due("another")
    clock.advance(LONGEST_MS // 1000)
    assert pace.due("chain")
    pace.worked("chain")
    assert pace.failed("chain", away) == FIRST_MS


def test_pace_waits_long_after_a_refusal() -> None:
    assert Pace(FakeClock()).failed("step", RejectedError("no")) == REFUSED_MS


def test_private_file_is_written_once_with_mode_0600(tmp_path: Path) -> None:
    path = tmp_path / "node" / "password"
    write_private(path, "one\n")
    write_private(path, "two\n")
    assert read_private(path, "password", "make it") == "one"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "password"
    path.write_text("secret")
    path.chmod(0o644)
    with pytest.raises(InvalidInputError, match="others may read") as caught:
        read_private(path, "password", "make it")
    assert caught.value.exit_code == 3
    assert "secret" not in str(caught.value.as_dict())


def test_settings_split_members_and_ignore_what_is_not_given() -> None:
    settings = load_settings({"oracle_url": "http://a/,https://b,http://a", "poll_ms": None, "unknown": 1})
    assert settings.oracle_urls == ("http://a", "https://b")
    assert settings.poll_ms == 500
    assert load_settings({"rpc_url": "http://a,https://b"}).endpoints == ("http://a", "https://b")
    assert settings.folder == settings.home / "node"


@pytest.mark.parametrize(
    "given",
    [
        {"poll_ms": 1},
        {"oracle_url": "ftp://a"},
        {"rpc_url": "nowhere"},
        {"rpc_url": "http://a,"},
        {"rpc_agree": 0},
        {"gpus": -1},
        {"log_level": "loud"},
    ],
)
def test_malformed_setting_is_one_clear_error(given: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError) as caught:
        load_settings(given)
    assert caught.value.exit_code == 3
    assert "SWARM_" in caught.value.fix


def test_ray_always_gets_token_authentication(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_USAGE_STATS_ENABLED", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"):
        monkeypatch.setenv(name, "")
    settings = load_settings({"node_folder": tmp_path})
    prepare_ray_environment(settings)
    own = os.environ["RAY_AUTH_TOKEN"]
    assert (os.environ["RAY_AUTH_MODE"], len(own)) == ("token", 64)

    shared = tmp_path / "shared-token"
    write_private(shared, "f" * 64)
    prepare_ray_environment(load_settings({"node_folder": tmp_path, "ray_token_file": shared}))
    assert os.environ["RAY_AUTH_TOKEN"] == "f" * 64
