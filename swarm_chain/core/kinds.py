"""Enumerations of the protocol; where a contract has the same one, the numbers are the same."""

from enum import IntEnum, StrEnum


class HardwareClass(IntEnum):
    """Class a node is judged against (ProviderRegistry.register)."""

    CPU = 1
    GPU = 2
    STORAGE = 3


class Category(StrEnum):
    """What nodes prove and are paid for; the order is the one in which a carried remainder finds its pool."""

    COMPUTE = "compute"
    SERVING = "serving"
    STORAGE = "storage"
    NETWORK = "network"
    MEMORY = "memory"
    TRAINING = "training"


class JobKind(IntEnum):
    """Kinds of jobs (JobEscrow.post)."""

    TRAIN = 1
    FINETUNE = 2
    TUNE = 3
    BATCH = 4
    SERVE = 5
    OPTIMISE = 6


class JobState(IntEnum):
    """States of a job in JobEscrow, same numbers."""

    NONE = 0
    POSTED = 1
    ACCEPTED = 2
    COMPLETED = 3
    PAID = 4
    REFUNDED = 5
    CANCELLED = 6


class WindowState(IntEnum):
    """States of a window in ChallengeBeacon, same numbers."""

    NONE = 0
    COMMITTED = 1
    OPEN = 2
    CLOSED = 3
    DRAWN = 4
    VOID = 5


class AccusationState(IntEnum):
    """States of an accusation in ComputeCourt, same numbers."""

    NONE = 0
    ACCUSED = 1
    ANSWERED = 2
    PICKED = 3
    REVEALED = 4
    PROVEN = 5
    CONVICTED = 6
    ACQUITTED = 7
    DISMISSED = 8


class ViolationClass(IntEnum):
    """Which kind of rule was broken (economics, slashing table)."""

    PERFORMANCE = 1
    SECURITY = 2
    PROTOCOL = 3


class Severity(IntEnum):
    """How hard the rule was broken (economics, slashing table)."""

    WARNING = 1
    PENALTY = 2
    SEVERE = 3


class Outcome(StrEnum):
    """The judge's finding."""

    PASSED = "passed"
    FAILED = "failed"
    MISSING = "missing"
