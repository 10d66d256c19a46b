"""How much an epoch may pay: emission by the closed form of the contract, scaled by demand, split into categories."""

from swarm_chain.core.economics import RewardParams
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.units import BPS, RAY, Bps, Wei


def rpow_ray(base: int, exponent: int) -> int:
    """Raise a ray to a power by squaring from the lowest bit, each step rounded down, exactly as the contract does.

    Args:
        base: ray, in [0, RAY].
        exponent: >= 0.

    Returns:
        Ray, in [0, RAY].

    Source: docs/spec/deployment.md; contracts/src/libraries/Emission.sol.
    """
    power = RAY
    while exponent:
        if exponent & 1:
            power = power * base // RAY
        base = base * base // RAY
        exponent >>= 1
    return power


def cumulative_emission(first_wei: Wei, decay_ray: int, epochs: int) -> Wei:
    """Give what the schedule allows in all for the first `epochs` epochs; rounded down, as the contract does.

    Args:
        first_wei: emission of epoch 0.
        decay_ray: factor from one epoch to the next, in [0, RAY]; RAY is no decay.
        epochs: number of epochs, >= 0.

    Raises:
        InvalidInputError: the decay is above RAY, or there are less than no epochs.
    """
    if not 0 <= decay_ray <= RAY or epochs < 0:
        raise InvalidInputError(f"no emission for {epochs} epochs with decay {decay_ray}", fix="use a decay up to 1e27")
    if decay_ray == RAY:
        return Wei(first_wei * epochs)
    return Wei(first_wei * (RAY - rpow_ray(decay_ray, epochs)) // (RAY - decay_ray))


def emission_wei(rewards: RewardParams, first: int, last: int) -> Wei:
    """Give what the schedule adds in epochs first to last.

    A report after missed epochs covers them all, so differences of the cumulative form never exceed the contract's.

    Args:
        rewards: emission of epoch 0 and decay.
        first: first epoch covered.
        last: last epoch covered, >= first.
    """
    until, before = (
        cumulative_emission(rewards.emission_first_wei, rewards.emission_decay_ray, epochs)
        for epochs in (last + 1, first)
    )
    return Wei(until - before)


def utilisation_bps(paid_seconds: int, offered_seconds: int) -> Bps:
    """Give the part of the offered device time that jobs paid for.

    Args:
        paid_seconds: device-seconds of jobs that were judged passed.
        offered_seconds: device-seconds of devices that proved capacity.

    Returns:
        0 to 10000, rounded down; 0 if nothing was offered.
    """
    if offered_seconds == 0:
        return Bps(0)
    return Bps(min(paid_seconds * BPS // offered_seconds, BPS))


def pool_wei(emission: Wei, utilisation: Bps, base_bps: Bps) -> Wei:
    """Scale the emission by demand: base share at zero utilisation, all of it at full; the rest stays unminted.

    Args:
        emission: wei the schedule adds.
        utilisation: 0 to 10000 bps.
        base_bps: share paid without any demand, 0 to 10000.

    Returns:
        emission x (base + (1 - base) x utilisation), rounded down once.

    Source: economics.md, Epoch reward 2 (with base 5000: E x (5000 + u/2) / 10000).
    """
    share = base_bps * BPS + (BPS - base_bps) * utilisation
    return Wei(emission * share // (BPS * BPS))


def category_wei(pool: Wei, share_bps: Bps) -> Wei:
    """Give one category's part of the pool, rounded down; who proved nothing gets nothing, and it stays unminted."""
    return Wei(pool * share_bps // BPS)
