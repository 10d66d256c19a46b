"""Addresses that others name: whether one may be asked for anything at all."""

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

from swarm_chain.core.errors import InvalidInputError

_NAT64 = IPv6Network("64:ff9b::/96")


def require_host(text: str, *, private: bool, code: str) -> str:
    """Check an address somebody gave: whoever trusts it sends something there, so it must not lead anywhere else.

    Args:
        text: a literal address in its one spelling: a name could point elsewhere a second later.
        private: whether addresses that no router forwards will do (a network on one machine).
        code: of the error.

    Returns:
        The same text.

    Raises:
        InvalidInputError: no address, one nobody may serve on, or a private one where none is allowed.
    """
    try:
        address = ip_address(text)
    except ValueError as error:
        raise _refused(text, "it is no literal address", code) from error
    if str(address) != text or "%" in text:
        raise _refused(text, "it is not written in its one spelling", code)
    if address.is_multicast or address.is_unspecified or address.is_link_local or _carries_another(address):
        raise _refused(text, "nobody serves at such an address", code)
    if not (private or address.is_global):
        raise _refused(text, "it is not public", code)
    return text


def _carries_another(address: IPv4Address | IPv6Address) -> bool:
    # Some addresses of version 6 wrap one of version 4, which may be private while they look public.
    if isinstance(address, IPv4Address):
        return address == IPv4Address("255.255.255.255")
    wrapped = (address.ipv4_mapped, address.sixtofour, address.teredo)
    return address in _NAT64 or any(one is not None for one in wrapped)


def _refused(text: str, why: str, code: str) -> InvalidInputError:
    return InvalidInputError(
        f"{text[:64]!r} cannot be asked: {why}", code=code, fix="give the literal address at which others reach it"
    )
