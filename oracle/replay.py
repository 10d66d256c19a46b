"""Replay and audit: rebuild an epoch from what was published and the chain, and compare byte for byte.

Needs no key and trusts no member: signatures, medians, verdicts, amounts and trees are all computed again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from oracle.consensus.bundle import check_bundle
from oracle.model import Network, PreviousEpoch
from oracle.publish.bundle import parse_bundle
from oracle.publish.report import PublishedEpoch, build_report
from oracle.publish.verdicts import VERDICTS, verdicts_fault
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.model import ChainState
from swarm_chain.core.units import ZERO_HASH, Hash32
from swarm_chain.core.verdicts import passed_root


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What is wrong with a document, in words that name it; `document` is empty where the report as a whole is wrong."""

    document: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What a replay found, and everything it built again."""

    report_hash: Hash32
    rebuilt: PublishedEpoch
    differences: tuple[Difference, ...] = ()

    @property
    def replayed_hash(self) -> Hash32:
        """Hash of the report as the replay has it."""
        return self.rebuilt.report_hash

    @property
    def passed_root(self) -> Hash32:
        """Root over the commitments the replay passed; a member whose verdicts were given signed the same one."""
        return passed_root(self.rebuilt.passed)

    @property
    def difference(self) -> str:
        """The first document that differs and where; empty if all is the same."""
        return self.differences[0].what if self.differences else ""

    @property
    def matches(self) -> bool:
        """True if every byte and the hash on chain are the same."""
        return not self.differences


def replay_epoch(
    documents: Mapping[str, bytes],
    report_hash: Hash32,
    state: ChainState,
    previous: PreviousEpoch | None,
    network: Network,
    verdicts: Sequence[bytes] = (),
) -> Replay:
    """Rebuild an epoch from its bundle and compare.

    Args:
        documents: published bytes by name: manifest, bundle, state, shards/0, …
        report_hash: what the chain holds for the epoch (EpochOracle.processedHash).
        state: the chain, folded up to the reference block of the epoch by whoever replays.
        previous: the report before, read and verified by `publish.previous`; None for the first.
        network: contracts, genesis and params.
        verdicts: what members signed, one document each.

    Returns:
        Every difference, looked for in the order bundle, state, shards, manifest, report hash, verdicts.

    Raises:
        InvalidInputError: no bundle was published, or it is one no member may vote on.
        InconsistentError: the previous report does not fit the chain.
    """
    if "bundle" not in documents:
        raise InvalidInputError("the bundle is not published", code="no_bundle", fix="ask another member or a mirror")
    bundle = parse_bundle(documents["bundle"])
    check_bundle(bundle, state, previous.manifest_hash if previous else ZERO_HASH, network)
    rebuilt = build_report(state, bundle, previous, network)
    again = rebuilt.documents()
    names = sorted({*documents, *again}, key=_rank)
    found = [(name, _difference(name, documents.get(name), again.get(name))) for name in names]
    found.append(("", "" if rebuilt.report_hash == report_hash else "report hash differs from the one on chain"))
    faults = (verdicts_fault(signed, bundle.epoch, rebuilt.passed, state.members, network) for signed in verdicts)
    found += [(VERDICTS, fault) for fault in faults]
    return Replay(
        report_hash=report_hash,
        rebuilt=rebuilt,
        differences=tuple(Difference(document=name, what=what) for name, what in found if what),
    )


def _rank(name: str) -> tuple[int, int, str]:
    # The manifest holds the hashes of all others, so it would differ whenever they do: they are looked at first.
    kind, _, number = name.partition("/")
    order = ("bundle", "state", "shards", "manifest")
    return order.index(kind) if kind in order else len(order), int(number) if number.isdecimal() else 0, name


def _difference(name: str, published: bytes | None, rebuilt: bytes | None) -> str:
    if published is None:
        return f"{name} was not published"
    if rebuilt is None:
        return f"{name} does not belong to the epoch"
    if published == rebuilt:
        return ""
    offset = next(i for i, (have, want) in enumerate(zip_longest(published, rebuilt)) if have != want)
    return f"{name} differs from byte {offset}"
