"""Payloads over HTTP: streams in both directions, never repeated on their own, since a member's clock runs."""

from collections.abc import Iterator, Sequence

import httpx2

from node.audits.network import PayloadLine
from node.oracle_client import CONNECT_S, HttpOracleAudits, JsonHttp, refusal_of
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.errors import SwarmError, UnavailableError
from swarm_chain.core.units import Address, Hash32

STALLED_S = 5.0  # without a byte
TOLD_BYTES = 64 * 1024  # of a refusal
_OCTETS = {"Content-Type": "application/octet-stream", "Accept-Encoding": "identity"}


class HttpLine:
    """PayloadLine over HTTP.

    Args:
        url: base of the member.
        client: what sends; default: one with short waits.
    """

    def __init__(self, url: str, client: httpx2.Client | None = None) -> None:
        self._url = url.rstrip("/")
        self._client = client or httpx2.Client(timeout=httpx2.Timeout(STALLED_S, connect=CONNECT_S))

    def download(self, audit_id: Hash32) -> Iterator[bytes]:
        """The payload, as it comes."""
        where = f"{self._url}/v1/audits/{to_hex(audit_id)}/payload"
        try:
            with self._client.stream("GET", where, headers={"Accept-Encoding": "identity"}) as response:
                _require_taken(response)
                yield from response.iter_raw()
        except httpx2.RequestError as error:
            raise _broken(self._url, error) from error

    def upload(self, audit_id: Hash32, pieces: Iterator[bytes], size: int) -> None:
        """Sends bytes, as fast as the member takes them."""
        where = f"{self._url}/v1/audits/{to_hex(audit_id)}/upload"
        headers = {**_OCTETS, "Content-Length": str(size)}
        try:
            with self._client.stream("POST", where, content=pieces, headers=headers) as response:
                _require_taken(response)
        except httpx2.RequestError as error:
            raise _broken(self._url, error) from error

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()


class MemberLines:
    """Lines to members by their address, found once among their URLs.

    Args:
        urls: bases of the members.
    """

    def __init__(self, urls: Sequence[str]) -> None:
        self._urls = tuple(urls)
        self._found: dict[Address, PayloadLine] = {}

    def of(self, member: Address) -> PayloadLine:
        """The line to a member.

        Raises:
            UnavailableError: none of the URLs says it is this member's.
        """
        if member not in self._found:
            url = next((url for url in self._urls if _member_at(url) == member), None)
            if url is None:
                raise UnavailableError(f"no URL answers for member {member}", code="oracle_unreachable")
            self._found[member] = HttpLine(url)
        return self._found[member]


def _member_at(url: str) -> Address | None:
    http = JsonHttp(url)
    try:
        return HttpOracleAudits(http).address()
    except SwarmError:
        return None  # another one may answer
    finally:
        http.close()


def _require_taken(response: httpx2.Response) -> None:
    if response.status_code < 300:
        return
    told = bytearray()
    for part in response.iter_raw():
        told += part
        if len(told) > TOLD_BYTES:
            break
    raise refusal_of(response.status_code, bytes(told))


def _broken(url: str, error: httpx2.RequestError) -> UnavailableError:
    return UnavailableError(f"the line to {url} broke ({type(error).__name__})", code="line_broken")
