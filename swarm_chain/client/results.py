"""What a job made, believed only if it is what the receipt on chain names: nobody between node and customer can swap it.

digest on chain == receipt's --checkpointRoot--> hashes of all contents --> bytes      from a gateway: every content
                               --outputDigest--> bytes of the last one                  from a member: the last content

A source that lies, or has not everything, gives nothing; the next one is asked. Files appear when all of them are checked.
"""

import json
import shutil
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from swarm_chain.client.model import ChainJob, GatewayWord, Results
from swarm_chain.client.wire import read_receipt
from swarm_chain.core.checkpoints import MAX_CHECKPOINTS, checkpoint_tree, content_hash
from swarm_chain.core.errors import InconsistentError, InvalidInputError, SwarmError
from swarm_chain.core.merkle import root
from swarm_chain.core.messages import receipt_json
from swarm_chain.core.model import Receipt
from swarm_chain.core.signing import receipt_digest, require_signed_by
from swarm_chain.core.units import Address, Hash32

RECEIPT_FILE, RESULT_FILE, CONTENTS_FOLDER = "receipt.json", "result", "contents"
_PLACES: Final = len(str(MAX_CHECKPOINTS)) + 2  # of a content's file name


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Somebody who may have a job's results: its name, its receipt, and which contents it gives."""

    name: str
    receipt: Callable[[], Receipt]
    indices: Callable[[Receipt], Sequence[int]]
    content: Callable[[int], bytes]


def check_receipt(job: ChainJob, document: Any, domain: Hash32) -> Receipt:
    """The receipt, if it is the one whose digest the chain recorded.

    Args:
        job: the chain's record, completed.
        document: what somebody calls the receipt; JSON.
        domain: EIP-712 domain of ChallengeBeacon.

    Raises:
        InconsistentError: malformed, or another one (code result_mismatch).
    """
    try:
        receipt = read_receipt(document)
    except InvalidInputError as error:
        raise mismatch(job, error.message) from error
    if receipt_digest(domain, receipt) != job.receipt_digest:
        raise mismatch(job, "the receipt is not the one on chain")
    return receipt


def check_countersigned(job: ChainJob, word: GatewayWord, gateway: Address) -> None:
    """That the gateway's signature over the recorded receipt is its own.

    Raises:
        InconsistentError: there is none, or somebody else's (code result_mismatch).
    """
    if word.gateway_signature is None:
        raise mismatch(job, "the gateway has not signed the receipt")
    try:
        require_signed_by(gateway, job.receipt_digest, word.gateway_signature)
    except InvalidInputError as error:
        raise mismatch(job, f"the gateway's signature of the receipt is wrong: {error.message}") from error


def check_contents(job: ChainJob, receipt: Receipt, hashes: Sequence[Hash32]) -> None:
    """That contents with these hashes, in this order, are those of the receipt.

    Raises:
        InconsistentError: too few, too many, or others (code result_mismatch).
    """
    if len(hashes) != receipt.checkpoint_count or not 2 <= len(hashes) <= MAX_CHECKPOINTS:
        raise mismatch(job, f"{len(hashes)} contents, the receipt names {receipt.checkpoint_count}")
    if hashes[0] != receipt.input_digest:
        raise mismatch(job, "content 0 is not what the receipt says the job started from")
    if hashes[-1] != receipt.output_digest:
        raise mismatch(job, "the bytes are not the output that the receipt names")
    if root(checkpoint_tree(hashes)) != receipt.checkpoint_root:
        raise mismatch(job, "the contents do not make the root that the receipt names")


def check_last(job: ChainJob, receipt: Receipt, hashes: Sequence[Hash32]) -> None:
    """That the only content is the receipt's output.

    Raises:
        InconsistentError: it is not (code result_mismatch).
    """
    if tuple(hashes) != (receipt.output_digest,):
        raise mismatch(job, "the bytes are not the output that the receipt names")


def mismatch(job: ChainJob, why: str) -> InconsistentError:
    """The error of a result that is not what the chain says."""
    return InconsistentError(
        f"the result of job {job.job_id} is wrong: {why}; nothing was written",
        fix="ask another gateway or oracle member (--gateway-url, --oracle-url) and report this one",
        code="result_mismatch",
        values={"jobId": job.job_id},
    )


def fetch_results(job: ChainJob, sources: Sequence[Source], folder: Path) -> Results:
    """Files of the first source whose bytes are what the chain says.

    Args:
        job: the chain's record.
        sources: who to ask, best first.
        folder: where the files go; made if it is not there. What has the same names there is replaced.

    Raises:
        InvalidInputError: not completed (no_result), failed on its node (job_failed), or no folder.
        SwarmError: every source failed; the gravest of their errors.
    """
    if not any(job.receipt_digest):
        fix = f"wait for it: swarm job status {job.job_id} --wait"
        raise InvalidInputError(f"job {job.job_id} has no result yet", fix=fix, code="no_result")
    failed: list[tuple[str, SwarmError]] = []
    for source in sources:
        try:
            return _fetched(job, source, folder, tuple(f"{name}: {error.message}" for name, error in failed))
        except SwarmError as error:
            if error.code in {"job_failed", "bad_folder"}:
                raise
            failed.append((source.name, error))
    # A lie is worse news than an absence.
    raise max((error for _, error in failed), key=lambda error: error.exit_code)


def _fetched(job: ChainJob, source: Source, folder: Path, refused: tuple[str, ...]) -> Results:
    receipt = source.receipt()
    if receipt.exit_code != 0:
        raise InvalidInputError(
            f"job {job.job_id} failed on its node (exit code {receipt.exit_code}): there is no result",
            fix=f"its budget returns; read swarm job logs {job.job_id}, change the spec and submit it again",
            code="job_failed",
        )
    with ExitStack() as undo:
        beside = Path(undo.enter_context(_beside(folder)))
        indices = source.indices(receipt)
        hashes, size = _store(beside / CONTENTS_FOLDER, source, indices)
        (check_last if len(indices) == 1 else check_contents)(job, receipt, hashes)
        names = [_name(index) for index in indices]
        (beside / RECEIPT_FILE).write_text(json.dumps(receipt_json(receipt), indent=2) + "\n", encoding="utf-8")
        shutil.copyfile(beside / CONTENTS_FOLDER / names[-1], beside / RESULT_FILE)
        _move(beside, folder, [*(f"{CONTENTS_FOLDER}/{name}" for name in names), RECEIPT_FILE, RESULT_FILE])
    return Results(
        job_id=job.job_id,
        folder=folder,
        last=folder / RESULT_FILE,
        contents=len(indices),
        of=receipt.checkpoint_count,
        size=size,
        source=source.name,
        receipt=receipt,
        refused=refused,
    )


def _store(contents: Path, source: Source, indices: Sequence[int]) -> tuple[list[Hash32], int]:
    """One content in memory at a time."""
    contents.mkdir()
    hashes, size = [], 0
    for index in indices:
        content = source.content(index)
        (contents / _name(index)).write_bytes(content)
        hashes.append(content_hash(content))
        size += len(content)
    return hashes, size


def _beside(folder: Path) -> "TemporaryDirectory[str]":
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        if folder.exists() and not folder.is_dir():
            raise NotADirectoryError("it is a file")
        return TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent)
    except OSError as error:
        raise InvalidInputError(
            f"cannot write to {folder}: {error.strerror or error}", fix="name a folder with --out", code="bad_folder"
        ) from error


def _move(beside: Path, folder: Path, names: Sequence[str]) -> None:
    (folder / CONTENTS_FOLDER).mkdir(parents=True, exist_ok=True)
    for name in names:
        (beside / name).replace(folder / name)


def _name(index: int) -> str:
    return f"{index:0{_PLACES}d}"
