"""Where `swarm court` finds evidence, and what it recomputes it with."""

import os
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter_ns

from swarm_chain.cli.context import Session
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.model import Commitment, Opening
from swarm_chain.core.rowchain import NumpyCompute
from swarm_chain.core.signing import domain_separator
from swarm_chain.core.units import EpochNumber, Hash32, epoch_of
from swarm_chain.core.verdicts import SignedVerdicts
from swarm_chain.court.charges import SaltStore
from swarm_chain.court.desk import CourtDesk
from swarm_chain.court.documents import EpochEvidence, parse_evidence, parse_verdicts
from swarm_chain.court.recompute import Recomputer

MAX_BUNDLE_BYTES = 2**30


class EvidenceSource:
    """Signed evidence of epochs, from an oracle member or from a bundle file.

    Args:
        session: names the oracle and the deployment.
        file: a bundle to read instead of asking an oracle.
    """

    def __init__(self, session: Session, file: Path | None = None) -> None:
        self._session, self._file = session, file
        self._known: dict[EpochNumber, EpochEvidence] = {}

    def epoch(self, epoch: EpochNumber) -> EpochEvidence:
        """Evidence of an epoch; signatures are checked.

        Raises:
            InvalidInputError: no such bundle, or one of another epoch or chain.
            UnavailableError: the oracle does not answer.
        """
        if epoch not in self._known:
            deployment = self._session.deployment
            found = parse_evidence(self._bundle(epoch), deployment.chain_id, self._domain)
            if found.epoch != epoch:
                raise InvalidInputError(f"the bundle is of epoch {found.epoch}, not {epoch}", fix="name the right one")
            self._known[epoch] = found
        return self._known[epoch]

    def published(self) -> tuple[EpochNumber, ...]:
        """Epochs the source has."""
        if self._file is not None:
            deployment = self._session.deployment
            return (parse_evidence(_content(self._file), deployment.chain_id, self._domain).epoch,)
        return tuple(EpochNumber(int(item["epoch"])) for item in self._session.oracle.get("/v1/epochs")["epochs"])

    def verdicts(self, epoch: EpochNumber) -> tuple[SignedVerdicts, ...]:
        """The member's own verdicts of an epoch; empty where it has published none, or none that it signed."""
        if self._session.settings.oracle_url is None:
            return ()
        try:
            return (parse_verdicts(self._session.oracle.get_bytes(f"/v1/epochs/{epoch}/verdicts"), self._domain),)
        except InvalidInputError as error:
            self._session.output.note(f"no verdicts of epoch {epoch}: {error.message}")
            return ()

    def openings(self, commitment: Commitment) -> Sequence[Opening]:
        """What is published of a commitment's rows; nothing where no source is named or it has none."""
        if self._file is None and self._session.settings.oracle_url is None:
            return ()
        try:
            return self.epoch(epoch_of(commitment.window_id)).openings(commitment)
        except (InvalidInputError, UnavailableError) as error:
            self._session.output.note(f"no published proof of window {commitment.window_id}: {error.message}")
            return ()

    @property
    def _domain(self) -> Hash32:
        deployment = self._session.deployment
        return domain_separator(deployment.chain_id, deployment.contracts["ChallengeBeacon"])

    def _bundle(self, epoch: EpochNumber) -> bytes:
        if self._file is not None:
            return _content(self._file)
        return self._session.oracle.get_bytes(f"/v1/epochs/{epoch}/bundle")


def open_desk(session: Session) -> CourtDesk:
    """Reads of the court of the session's deployment.

    Raises:
        InvalidInputError: the deployment has no ComputeCourt (exit 3).
    """
    if "ComputeCourt" not in session.deployment.contracts:
        raise InvalidInputError(
            "this deployment has no ComputeCourt", fix="choose another with --deployment", code="no_court", exit_code=3
        )
    return CourtDesk(session.reader, session.deployment)


def open_salts(session: Session) -> SaltStore:
    """Salts of the session's deployment, in SWARM_HOME."""
    court = session.deployment.contracts["ComputeCourt"]
    return SaltStore(session.settings.home / "court" / f"{session.deployment.chain_id}-{court}")


def open_recomputer(session: Session, backend: str) -> Recomputer:
    """A recomputer; torch is used where it is installed and knows its answers.

    Args:
        session: where notes go.
        backend: "auto", "numpy", or a device as torch names it.

    Raises:
        UnavailableError: a torch device was asked for and torch is not installed (exit 3).
    """
    has_torch = find_spec("torch") is not None
    if backend == "numpy" or (backend == "auto" and not has_torch):
        return Recomputer(NumpyCompute())
    if not has_torch:
        raise UnavailableError(
            f"backend {backend} needs the package torch, which is not installed",
            fix="use --backend numpy, or install it with: pip install 'swarm[node]'",
            code="missing_extra",
            exit_code=3,
        )
    from swarm_chain.reference.backends import candidates, choose

    choice = choose(candidates("cpu" if backend == "auto" else backend, os.cpu_count() or 1), perf_counter_ns)
    for one in choice.rejected:
        session.output.note(f"backend {one.name} is not used on this machine: {one.reason}")
    return Recomputer(choice.compute)


def row_counter(steps: Callable[[int, int, str], None]) -> Callable[[int, int], None]:
    """Progress of a recomputation as the steps of a progress bar."""
    return lambda done, total: steps(done, total, f"{done} of {total} rows recomputed")


def _content(file: Path) -> bytes:
    try:
        if file.stat().st_size > MAX_BUNDLE_BYTES:
            raise InvalidInputError(f"{file} is larger than any bundle", fix="name the file of a bundle")
        return file.read_bytes()
    except OSError as error:
        raise InvalidInputError(f"cannot read {file}: {error.strerror}", fix="name a file that exists") from error
