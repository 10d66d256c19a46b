"""What an agent must not lose: a small SQLite file, written before anything is sent.

commitments   one row per (window, seed, device): a second, different root for the same key cannot be stored
deliveries    which member has what
jobs          phase, spec and signed receipt of each job
job_gateways  whose signature a job's receipt needs, how much of the job that gateway has, and its signature
transactions  signed transactions that are not known to be mined
meta          heartbeat sequence, the node this file belongs to, whether its agent was told to stop
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from swarm_chain.adapters.folder_lock import folder_lock
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.units import Address

LOCK = "agent.lock"
VERSION = 3
# Tables that are made anew where the file is older: commitments named no seed, so no member can verify them; transactions
# named no contract, and what they did is asked of the chain again.
_REMADE = {2: "commitments", 3: "transactions"}
SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS commitments (
  window_id INTEGER NOT NULL, device INTEGER NOT NULL, m INTEGER NOT NULL, n INTEGER NOT NULL, steps INTEGER NOT NULL,
  window_seed BLOB NOT NULL, root BLOB NOT NULL, signature BLOB NOT NULL, heads BLOB,
  PRIMARY KEY (window_id, window_seed, device)
) STRICT;
CREATE TABLE IF NOT EXISTS deliveries (
  kind TEXT NOT NULL, subject TEXT NOT NULL, member TEXT NOT NULL, PRIMARY KEY (kind, subject, member)
) STRICT;
CREATE TABLE IF NOT EXISTS jobs (
  job_id INTEGER PRIMARY KEY, phase TEXT NOT NULL, spec TEXT NOT NULL, started_at INTEGER NOT NULL DEFAULT 0,
  receipt TEXT, signature BLOB, contents BLOB, reason TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE TABLE IF NOT EXISTS job_gateways (
  job_id INTEGER PRIMARY KEY, gateway TEXT NOT NULL, contents INTEGER NOT NULL DEFAULT 0, log INTEGER NOT NULL DEFAULT 0,
  whole INTEGER NOT NULL DEFAULT 0, signature BLOB
) STRICT;
CREATE TABLE IF NOT EXISTS transactions (
  purpose TEXT PRIMARY KEY, hash BLOB NOT NULL, raw BLOB NOT NULL, sender TEXT NOT NULL, nonce INTEGER NOT NULL,
  max_fee_wei TEXT NOT NULL, contract TEXT NOT NULL, function TEXT NOT NULL, args TEXT NOT NULL, sent_ms INTEGER NOT NULL
) STRICT;
"""


def open_state(path: Path, node: Address) -> sqlite3.Connection:
    """Open or create the state file of a node.

    Args:
        path: the file; its folder is made if absent.
        node: address of the node key the file belongs to.

    Raises:
        InvalidInputError: the file belongs to another node.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    state = sqlite3.connect(path, isolation_level=None)
    state.execute("PRAGMA journal_mode = WAL")
    state.execute("PRAGMA synchronous = FULL")
    state.executescript(SCHEMA)
    state.execute("INSERT INTO meta VALUES ('node', ?) ON CONFLICT DO NOTHING", (node,))
    (owner,) = state.execute("SELECT value FROM meta WHERE name = 'node'").fetchone()
    if owner != node:
        state.close()
        raise InvalidInputError(
            f"{path} belongs to node {owner}, not to {node}",
            fix="give every node its own --state folder",
            code="state_of_another_node",
            exit_code=3,
        )
    _bring_up_to_date(state)
    return state


@contextmanager
def only_agent(folder: Path) -> Iterator[None]:
    """Hold the folder of a node: two agents with one key could contradict each other.

    Raises:
        InvalidInputError: another agent holds it.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with folder_lock(folder / LOCK) as ours:
        if not ours:
            raise InvalidInputError(
                f"another agent runs in {folder}", fix="stop it first: one node key, one agent", code="already_running"
            )
        yield


def is_held(folder: Path) -> bool:
    """True if an agent runs in the folder of a node."""
    if not folder.is_dir():
        return False
    with folder_lock(folder / LOCK) as ours:
        return not ours


def next_sequence(state: sqlite3.Connection) -> int:
    """Take the next heartbeat sequence; it is on disk before it is used, so it only grows."""
    (value,) = state.execute(
        "INSERT INTO meta VALUES ('heartbeat_sequence', '1') "
        "ON CONFLICT (name) DO UPDATE SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) RETURNING value"
    ).fetchone()
    return int(value)


def note_draining(state: sqlite3.Connection, draining: bool) -> None:
    """Note whether the agent was told to stop, for whoever looks at the file from outside."""
    state.execute("INSERT OR REPLACE INTO meta VALUES ('draining', ?)", (str(int(draining)),))


def is_draining(state: sqlite3.Connection) -> bool:
    """True if the last agent was told to stop; of one that still runs: it finishes what it owes."""
    found = state.execute("SELECT value FROM meta WHERE name = 'draining'").fetchone()
    return bool(found == ("1",))


def add_delivery(state: sqlite3.Connection, kind: str, subject: str, member: str) -> None:
    """Note that a member has something."""
    state.execute("INSERT INTO deliveries VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (kind, subject, member))


def deliveries(state: sqlite3.Connection, kind: str) -> dict[str, frozenset[str]]:
    """Members by subject that have a kind of thing."""
    found: dict[str, set[str]] = {}
    for subject, member in state.execute("SELECT subject, member FROM deliveries WHERE kind = ?", (kind,)):
        found.setdefault(subject, set()).add(member)
    return {subject: frozenset(members) for subject, members in found.items()}


def _bring_up_to_date(state: sqlite3.Connection) -> None:
    (version,) = state.execute("PRAGMA user_version").fetchone()
    if version < VERSION:
        drops = " ".join(f"DROP TABLE {table};" for since, table in _REMADE.items() if version < since)
        state.executescript(f"BEGIN; {drops} {SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;")
