"""Salts outlive the process, and a seal is one accuser's for one subject."""

from dataclasses import replace
from pathlib import Path

from swarm_chain.core.court import seal_hash
from swarm_chain.core.encoding import keccak
from swarm_chain.core.units import ZERO_ADDRESS
from swarm_chain.court.charges import Charge, SaltStore
from swarm_chain.court.model import offence_of
from swarm_chain.testing import FakeSigner
from tests.compute_world import ALICE, CHALLENGE, MALLORY
from tests.court_world import lying_prover, other_root

SUBJECT = keccak(b"subject")
NODE = FakeSigner("node")
SIGNED = lying_prover(CHALLENGE, 5, 2).signed(NODE)


def test_a_salt_survives_a_restart_and_is_nobody_elses_to_read(tmp_path: Path) -> None:
    first = SaltStore(tmp_path / "salts").seal_of(ALICE, SUBJECT)

    again = SaltStore(tmp_path / "salts").seal_of(ALICE, SUBJECT)

    assert again == first
    assert first[0] == seal_hash(ALICE, SUBJECT, first[1])
    assert [file.stat().st_mode & 0o777 for file in (tmp_path / "salts").iterdir()] == [0o600]


def test_salts_differ_by_accuser_subject_and_folder(tmp_path: Path) -> None:
    store = SaltStore(tmp_path / "salts")

    salts = {
        store.seal_of(ALICE, SUBJECT)[1],
        store.seal_of(MALLORY, SUBJECT)[1],
        store.seal_of(ALICE, keccak(b"another"))[1],
        SaltStore(tmp_path / "other").seal_of(ALICE, SUBJECT)[1],
    }

    assert len(salts) == 4


def test_an_equivocation_seals_its_offence_and_a_row_its_accusation() -> None:
    pair = Charge(signed=SIGNED, accuser=ALICE, second=other_root(SIGNED, CHALLENGE, NODE))
    row = Charge(signed=SIGNED, accuser=ALICE, row=5)

    assert pair.subject == pair.offence_id == offence_of(SIGNED.commitment, ZERO_ADDRESS)
    assert row.subject not in {row.offence_id, replace(row, row=6).subject, replace(row, accuser=MALLORY).subject}
    assert (pair.call(SUBJECT).function, row.call(SUBJECT).function) == ("equivocate", "accuse")
