"""A key that lives in a signer behind HTTP, which takes what is hashed and signed and gives back the signature.

It speaks the eth1 API of Web3Signer: GET /api/v1/eth1/publicKeys, POST /api/v1/eth1/sign/{public key} {"data": "0x…"}.

Source: Web3Signer, openapi-specs/eth1/web3signer.yaml.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import NoReturn
from urllib.parse import unquote, urlsplit, urlunsplit

import httpx2

from swarm_chain.adapters.rpc import redacted
from swarm_chain.adapters.transaction import assembled, unsigned_payload
from swarm_chain.core.encoding import checksum_address, keccak, to_hex
from swarm_chain.core.errors import InconsistentError, InvalidInputError, UnavailableError
from swarm_chain.core.signing import require_signed_by, text_preimage, typed_preimage
from swarm_chain.core.units import Address, Hash32, Signature

KEYS_PATH, SIGN_PATH = "/api/v1/eth1/publicKeys", "/api/v1/eth1/sign/"
TIMEOUT_S = 10
MAX_ANSWER_BYTES = 2**20
_REFUSED = (401, 403)
_FIX = "check SWARM_SIGNER_URL and whether the signer runs"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignerEndpoint:
    """Where a signer is. `url` may hold user and password, so it is never shown.

    Args:
        url: base URL, https, or http on this machine.
        timeout_s: seconds to wait for an answer.
        plain_http: allows http to another machine, where everybody on the way may have things signed.

    Raises:
        InvalidInputError: no such URL, or http to another machine without `plain_http` (exit 3).
    """

    url: str
    timeout_s: float = TIMEOUT_S
    plain_http: bool = False

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise _setting_error(
                "SWARM_SIGNER_URL is no URL of a signer", "give https://host:port or http://127.0.0.1:port"
            )
        if parts.scheme == "http" and not self.plain_http and not _is_loopback(parts.hostname):
            raise _setting_error(
                f"{redacted(self.url)} is on another machine and not encrypted",
                "use https, or set SWARM_SIGNER_PLAIN_HTTP=1 on a network where nobody else is",
            )

    def __repr__(self) -> str:
        return f"SignerEndpoint({redacted(self.url)})"

    def get(self, path: str) -> bytes:
        """Body of the answer to GET; raises what `post` raises."""
        return self._request("GET", path, None)

    def post(self, path: str, body: Mapping[str, str]) -> bytes:
        """Body of the answer to a JSON body.

        Raises:
            UnavailableError: no answer, or one that says that it cannot now.
            InvalidInputError: it does not know the key (code "signer_key_unknown") or the sender (code "signer_refused").
        """
        return self._request("POST", path, body)

    def _request(self, method: str, path: str, body: Mapping[str, str] | None) -> bytes:
        parts = urlsplit(self.url)
        host = parts.netloc.rpartition("@")[2]
        url = urlunsplit((parts.scheme, host, parts.path.rstrip("/") + path, "", ""))
        auth = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
        try:
            # Proxies and .netrc of the environment have no part in this.
            with (
                httpx2.Client(trust_env=False, timeout=self.timeout_s, auth=auth) as client,
                client.stream(method, url, json=body) as response,
            ):
                content = _bounded(response)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise UnavailableError(
                f"signer {redacted(self.url)} does not answer ({type(error).__name__})",
                fix=_FIX,
                code="signer_unavailable",
            ) from None  # the reason may quote the URL
        if response.status_code != httpx2.codes.OK:
            self._refuse(response.status_code)
        return content

    def _refuse(self, status: int) -> NoReturn:
        place = redacted(self.url)
        if status == httpx2.codes.NOT_FOUND:
            raise InvalidInputError(
                f"signer {place} does not know the key",
                fix="load the key into the signer, or correct SWARM_SIGNER_ADDRESS",
                code="signer_key_unknown",
                exit_code=3,
            )
        if status in _REFUSED:
            raise InvalidInputError(
                f"signer {place} refuses this sender (HTTP status {status})",
                fix="correct user and password in SWARM_SIGNER_URL",
                code="signer_refused",
                exit_code=3,
            )
        raise UnavailableError(
            f"signer {place} answers with HTTP status {status}", fix="look into its log", code="signer_unavailable"
        )


class RemoteSigner:
    """Signer whose key never leaves another process. Each signature is checked here before anybody else sees it.

    Args:
        endpoint: where the signer is.
        public_key: 64 bytes x || y, the name of the key there.
    """

    __slots__ = ("_address", "_endpoint", "_public_key")

    def __init__(self, endpoint: SignerEndpoint, public_key: bytes) -> None:
        self._endpoint = endpoint
        self._public_key = public_key
        self._address = address_of_key(public_key)

    @property
    def address(self) -> Address:
        """Checksummed address of the key."""
        return self._address

    def sign_typed(self, domain: Hash32, struct_hash: Hash32) -> Signature:
        """65 bytes r || s || v, low s, v 27 or 28, over keccak256(0x1901 || domain || struct hash) (EIP-712).

        Raises:
            UnavailableError: the signer does not answer, or with something else than a signature.
            InvalidInputError: it does not know the key any more.
            InconsistentError: the signature is not this key's over this (code "wrong_signature").
        """
        return self._signature(typed_preimage(domain, struct_hash))

    def sign_text(self, text: bytes) -> Signature:
        """The same form over a text with the prefix of EIP-191, as `personal_sign` does; raises what `sign_typed` does."""
        return self._signature(text_preimage(text))

    def sign_transaction(self, fields: dict[str, object]) -> bytes:
        """Raw signed EIP-1559 transaction; raises what `sign_typed` does."""
        return assembled(fields, self._signature(unsigned_payload(fields)))

    def __repr__(self) -> str:
        return f"RemoteSigner({self._address})"

    def _signature(self, preimage: bytes) -> Signature:
        answer = self._endpoint.post(SIGN_PATH + to_hex(self._public_key), {"data": to_hex(preimage)})
        signature = _read_signature(answer)
        try:
            require_signed_by(self._address, keccak(preimage), signature)
        except InvalidInputError as error:
            raise InconsistentError(
                f"the signer's signature is not one of {self._address}: {error.message}",
                fix="stop and look at the signer: it has another key or changes what it is asked to sign",
                code="wrong_signature",
            ) from error
        return signature


def connect_signer(endpoint: SignerEndpoint, address: Address | None = None) -> RemoteSigner:
    """The signer's key of an address, or its only key.

    Raises:
        UnavailableError: the signer does not answer, or not like one.
        InvalidInputError: no key of this address, or none named and not exactly one there (exit 3).
    """
    keys = {address_of_key(key): key for key in _read_keys(endpoint.get(KEYS_PATH))}
    if address is None and len(keys) == 1:
        return RemoteSigner(endpoint, *keys.values())
    if address is None or address not in keys:
        raise InvalidInputError(
            f"the signer has no key of {address}" if address else f"which key? the signer has {len(keys)}",
            fix=f"set SWARM_SIGNER_ADDRESS to one of: {', '.join(sorted(keys)) or 'none; load a key into the signer'}",
            code="signer_key_unknown",
            values={"addresses": sorted(keys)},
            exit_code=3,
        )
    return RemoteSigner(endpoint, keys[address])


def address_of_key(public_key: bytes) -> Address:
    """Address of an uncompressed public key, 64 bytes x || y."""
    return checksum_address(keccak(public_key)[12:])


def _bounded(response: httpx2.Response) -> bytes:
    content = b""
    for part in response.iter_bytes():
        content += part
        if len(content) > MAX_ANSWER_BYTES:
            raise _unreadable("its answer is too long")
    return content


def _read_keys(content: bytes) -> list[bytes]:
    try:
        keys = [bytes.fromhex(text.removeprefix("0x")) for text in json.loads(content)]
    except (ValueError, TypeError, AttributeError) as error:
        raise _unreadable("its list of keys is none") from error
    # Some signers write the 0x04 of an uncompressed point in front.
    keys = [key[1:] if len(key) == 65 and key[0] == 4 else key for key in keys]
    if any(len(key) != 64 for key in keys):
        raise _unreadable("its list of keys holds something else")
    return keys


def _read_signature(content: bytes) -> Signature:
    try:
        signature = bytes.fromhex(content.decode("ascii").strip().strip('"').removeprefix("0x"))
    except ValueError as error:
        raise _unreadable("its answer is no signature") from error
    if len(signature) != 65:
        raise _unreadable(f"its answer has {len(signature)} bytes, a signature 65")
    return Signature(signature)


def _unreadable(reason: str) -> UnavailableError:
    return UnavailableError(f"the signer does not answer like one: {reason}", fix=_FIX, code="signer_unreadable")


def _setting_error(message: str, fix: str) -> InvalidInputError:
    return InvalidInputError(message, fix=fix, code="bad_signer_url", exit_code=3)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
