"""Number kinds of the protocol; each is an exact integer, or bytes of a fixed length, or a checksummed address."""

from typing import NewType

Wei = NewType("Wei", int)
Bps = NewType("Bps", int)
Mtops = NewType("Mtops", int)
Timestamp = NewType("Timestamp", int)
BlockNumber = NewType("BlockNumber", int)
ProviderId = NewType("ProviderId", int)
EpochNumber = NewType("EpochNumber", int)
WindowId = NewType("WindowId", int)
JobId = NewType("JobId", int)
RootIndex = NewType("RootIndex", int)
Address = NewType("Address", str)
Hash32 = NewType("Hash32", bytes)
Signature = NewType("Signature", bytes)

BPS = 10_000
WEI_PER_SWM = 10**18
RAY = 10**27
UINT256_MAX = 2**256 - 1
UINT128_MAX = 2**128 - 1
UINT64_MAX = 2**64 - 1
ZERO_ADDRESS = Address("0x0000000000000000000000000000000000000000")
ZERO_HASH = Hash32(bytes(32))


def window_id(epoch: EpochNumber, window: int) -> WindowId:
    """Number of a window: epoch << 16 | window.

    Args:
        epoch: epoch number, >= 0.
        window: 0 is the scheduled one, 1.. are confirmations; < 65536.

    Returns:
        The window id of compute-proof.md, section Bytes.
    """
    if epoch < 0 or not 0 <= window < 65536:
        raise ValueError(f"no window {window} in epoch {epoch}")
    return WindowId(epoch << 16 | window)


def epoch_of(window: WindowId) -> EpochNumber:
    """Epoch of a window id (its upper bits)."""
    return EpochNumber(window >> 16)


def format_swm(amount: Wei, decimals: int = 4) -> str:
    """Decimal SWM of a wei amount, rounded towards zero, for people; never parsed back.

    Args:
        amount: wei, any sign.
        decimals: 0 to 18 places shown.
    """
    sign = "-" if amount < 0 else ""
    whole, rest = divmod(abs(amount), WEI_PER_SWM)
    places = f"{rest:018d}"[:decimals]
    return f"{sign}{whole:,}" + (f".{places}" if decimals else "")
