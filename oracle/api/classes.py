"""`GET /v1/classes/{hardwareClass}`: what the nodes of a class proved in the newest accepted report."""

from typing import Annotated

from fastapi import APIRouter, Path, Request

from oracle.api.answers import ClassAnswer, Json, errors
from oracle.api.rates import Rates, Turns, host_of
from oracle.pipeline.member import Member
from oracle.publish.bundle import parse_bundle
from oracle.publish.classes import Spread, class_document, spreads
from oracle.publish.report import PublishedEpoch
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.kinds import HardwareClass
from swarm_chain.core.units import EpochNumber

ClassPath = Annotated[str, Path(description="cpu, gpu or storage.", max_length=16)]


class NewestSpreads:
    """Spreads of the newest accepted report, made once an epoch, by one caller at a time.

    Args:
        member: whose published epochs are read.
    """

    def __init__(self, member: Member) -> None:
        self._member = member
        self._kept: tuple[EpochNumber, tuple[Spread, ...]] | None = None
        self._turns = Turns(1)

    def read(self) -> tuple[EpochNumber, tuple[Spread, ...]]:
        """Epoch and spreads.

        Raises:
            UnavailableError: no report was accepted yet, or another caller is making them.
            InvalidInputError: this member did not publish the newest report.
        """
        newest, kept = newest_epoch(self._member), self._kept
        if kept is not None and kept[0] == newest:
            return kept
        with self._turns.one():
            published = self._member.archive.published(newest)
            state = self._member.archive.state_at(parse_bundle(published.bundle).ref_block)
            self._kept = made = newest, spreads(state.providers, published.facts)
        return made


def newest_epoch(member: Member) -> EpochNumber:
    """Epoch of the newest accepted report.

    Raises:
        UnavailableError: no report was accepted yet.
    """
    roots = [root.epoch for root in member.follower.sight.state.roots if not root.disabled]
    if not roots:
        raise UnavailableError("no report was accepted yet", retry_after=30)
    return max(roots)


def newest_report(member: Member) -> PublishedEpoch:
    """The newest accepted report as this member published it.

    Raises:
        UnavailableError: no report was accepted yet.
        InvalidInputError: this member did not publish the newest one.
    """
    return member.archive.published(newest_epoch(member))


def class_routes(member: Member, rates: Rates) -> APIRouter:
    """The route.

    Args:
        member: whose published epochs are read.
        rates: buckets by host.
    """
    router = APIRouter(prefix="/v1/classes", tags=["public"])
    newest = NewestSpreads(member)

    @router.get("/{hardware_class}", response_model=ClassAnswer, responses=errors(404, 429, 503))
    def of_class(hardware_class: ClassPath, request: Request) -> Json:
        """How many nodes of a hardware class proved something in each category, and the deciles of it."""
        rates.answers.take(host_of(request), "")
        kind = next((one for one in HardwareClass if one.name.lower() == hardware_class), None)
        if kind is None:
            raise InvalidInputError(
                "no such hardware class", code="unknown_document", fix="ask for cpu, gpu or storage"
            )
        epoch, found = newest.read()
        return dict(class_document(epoch, kind, found))

    return router
