"""Names under which a member keeps the documents of an epoch."""

from swarm_chain.core.model import WindowRecord
from swarm_chain.core.units import Address

HELD = "held/"  # evidence: it stays when another report is adopted
OBSERVATION = HELD + "observation/"
SECOND_OBSERVATION = HELD + "double/"  # a member's other one: evidence against it
BUNDLE, MANIFEST, STATE = "bundle", "manifest", "state"
BUNDLE_HASH = "bundle-hash"  # sha256 of the bundle, looked at far more often than the bundle
REPORT_HASH = "report-hash"
PUBLISHED = "published"  # marks the epochs whose documents are public


def window_name(window: WindowRecord) -> str:
    """Name of the commitments a window's root was made of; a window closed anew by a reorganisation has another root."""
    return f"{HELD}window/{window.window_id}/{window.commitments_root.hex()[:24]}"


def observer_of(name: str) -> Address | None:
    """Member whose observation a document is, None for others."""
    return Address(name.removeprefix(OBSERVATION)) if name.startswith(OBSERVATION) else None
