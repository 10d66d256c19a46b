"""Regions of providers: eight bytes in the registry, a word everywhere else. Pure.

Source: contracts/src/ProviderRegistry.sol.
"""


def region_text(raw: bytes) -> str:
    """A region as specs name it: the registry's bytes without their padding."""
    return raw.rstrip(b"\0").decode("ascii", "replace")
