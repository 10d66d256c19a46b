"""Oracle members as a gateway needs them: they are handed every spec, and asked what they measured of nodes."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import httpx2
import structlog

from gateway.store import specs as store
from gateway.store.engine import Database
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.kinds import Category
from swarm_chain.core.units import Address, Hash32

log = structlog.get_logger()

CONNECT_S, ANSWER_S = 1.0, 3.0


class Members(Protocol):
    """What the desk asks of the members."""

    def hand(self, spec_hash: Hash32, document: bytes) -> None:
        """Hands a spec to those members who lack it; who does not answer gets it later."""
        ...

    def measured(self, node: Address) -> Mapping[str, int]:
        """Units by category that members proved of a node; empty if they say nothing."""
        ...


class HttpMembers:
    """Members over HTTP.

    Args:
        urls: their bases.
        database: where it stands who has which spec.
        client: for tests with a transport of their own.
    """

    def __init__(self, urls: Sequence[str], database: Database, client: httpx2.Client | None = None) -> None:
        self._urls = tuple(urls)
        self._database = database
        self._client = client or httpx2.Client(timeout=httpx2.Timeout(ANSWER_S, connect=CONNECT_S))

    def hand(self, spec_hash: Hash32, document: bytes) -> None:
        """Hands a spec to those members who lack it; who does not answer gets it later."""
        for url in self._urls:
            if spec_hash in store.undelivered(self._database, url):
                self._hand_to(url, spec_hash, document)

    def hand_all(self) -> None:
        """Hands every member what it lacks."""
        for url in self._urls:
            for spec_hash in store.undelivered(self._database, url):
                spec = store.find_spec(self._database, spec_hash)
                if spec is not None and not self._hand_to(url, spec_hash, spec.document):
                    break  # it is away: the others first

    def measured(self, node: Address) -> Mapping[str, int]:
        """Units by category that members proved of a node: of each the lower middle of what they say."""
        said = [answer for url in self._urls if (answer := self._proven(url, node)) is not None]
        return {
            category.value: sorted(one.get(category.value, 0) for one in said)[(len(said) - 1) // 2]
            for category in Category
            if any(category.value in one for one in said)
        }

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()

    def _hand_to(self, url: str, spec_hash: Hash32, document: bytes) -> bool:
        body, kind = b'{"spec":' + document + b"}", {"Content-Type": "application/json"}
        try:
            answer = self._client.post(f"{url}/v1/jobs/specs", content=body, headers=kind)
        except httpx2.RequestError as error:
            log.warning("member_away", member=url, reason=type(error).__name__)
            return False
        if answer.status_code >= 300:
            log.warning("spec_not_taken", member=url, spec_hash=to_hex(spec_hash), status=answer.status_code)
            return False
        store.note_delivery(self._database, spec_hash, url)
        return True

    def _proven(self, url: str, node: Address) -> Mapping[str, int] | None:
        try:
            answer = self._client.get(f"{url}/v1/proven/{node}")
            found = answer.json() if answer.status_code < 300 else None
        except (httpx2.RequestError, ValueError):
            return None
        units = found.get("units") if isinstance(found, dict) else None
        return {k: v for k, v in units.items() if isinstance(v, int)} if isinstance(units, dict) else None
