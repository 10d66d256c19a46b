"""Evidence, jobs, outbox and published documents."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

HASH = sa.String(66)
ADDRESS = sa.String(42)


def upgrade() -> None:
    """Creates the first tables."""
    _create_windows()
    _create_liveness()
    _create_jobs()
    _create_outbox()


def _create_windows() -> None:
    op.create_table(
        "windows",
        sa.Column("window_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("secret", sa.LargeBinary, nullable=False),
        sa.Column("judged", sa.Boolean, nullable=False),
        sa.Column("seen_ms", sa.BigInteger),
    )
    op.create_table(
        "commitments",
        sa.Column("window_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("node", ADDRESS, primary_key=True),
        sa.Column("device", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("root", HASH, primary_key=True),
        sa.Column("m", sa.Integer, nullable=False),
        sa.Column("n", sa.Integer, nullable=False),
        sa.Column("steps", sa.Integer, nullable=False),
        sa.Column("signature", sa.LargeBinary, nullable=False),
        sa.Column("elapsed_ms", sa.BigInteger, nullable=False),
        sa.Column("first", sa.Boolean, nullable=False),
    )
    op.create_table(
        "proofs",
        sa.Column("window_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("node", ADDRESS, primary_key=True),
        sa.Column("device", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("document", sa.LargeBinary, nullable=False),
    )


def _create_liveness() -> None:
    op.create_table(
        "heartbeats",
        sa.Column("node", ADDRESS, primary_key=True),
        sa.Column("sequence", sa.BigInteger, nullable=False),
        sa.Column("arrived_ms", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "roll_calls",
        sa.Column("epoch", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("node", ADDRESS, primary_key=True),
        sa.Column("present", sa.Integer, nullable=False),
        sa.Column("total", sa.Integer, nullable=False),
    )


def _create_jobs() -> None:
    op.create_table(
        "specs", sa.Column("spec_hash", HASH, primary_key=True), sa.Column("document", sa.LargeBinary, nullable=False)
    )
    op.create_table(
        "receipts",
        sa.Column("job_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("receipt_digest", HASH, primary_key=True),
        sa.Column("document", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "checkpoints",
        sa.Column("job_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("content_hash", HASH, primary_key=True),
        sa.Column("content", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "job_verdicts",
        sa.Column("job_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("receipt_digest", HASH, nullable=False),
        sa.Column("outcome", sa.String(16), nullable=False),
        sa.Column("reason", sa.String(64), nullable=False),
    )


def _create_outbox() -> None:
    op.create_table(
        "intents",
        sa.Column("key", sa.String(128), primary_key=True),
        sa.Column("attempt", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("tx_hash", HASH, nullable=False),
        sa.Column("raw", sa.LargeBinary, nullable=False),
        sa.Column("sender", ADDRESS, nullable=False),
        sa.Column("nonce", sa.BigInteger, nullable=False),
        sa.Column("max_fee_wei", sa.String(78), nullable=False),
        sa.Column("contract", sa.String(64), nullable=False),
        sa.Column("function", sa.String(64), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
    )
    op.create_table(
        "documents",
        sa.Column("epoch", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("content", sa.LargeBinary, nullable=False),
    )


def downgrade() -> None:
    """Drops every table of this revision."""
    for table in (
        "documents",
        "intents",
        "job_verdicts",
        "checkpoints",
        "receipts",
        "specs",
        "roll_calls",
        "heartbeats",
        "proofs",
        "commitments",
        "windows",
    ):
        op.drop_table(table)
