"""Audits: what devices answered to this member alone, and what it found."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Creates the table."""
    op.create_table(
        "audits",
        sa.Column("window_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("node", sa.String(42), primary_key=True),
        sa.Column("device", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("category", sa.String(16), primary_key=True),
        sa.Column("audit_id", sa.String(66), nullable=False, unique=True),
        sa.Column("claim", sa.BigInteger, nullable=False),
        sa.Column("nonce", sa.String(66), nullable=False),
        sa.Column("draw", sa.String(66), nullable=False),
        sa.Column("started_ms", sa.BigInteger, nullable=False),
        sa.Column("boot", sa.String(64), nullable=False),
        sa.Column("root", sa.String(66)),
        sa.Column("elapsed_ms", sa.BigInteger),
        sa.Column("openings", sa.LargeBinary),
        sa.Column("outcome", sa.String(16)),
        sa.Column("reason", sa.String(64), nullable=False, server_default=""),
        sa.Column("units", sa.BigInteger, nullable=False, server_default="0"),
    )


def downgrade() -> None:
    """Drops it: an observation without measurements is as true as before."""
    op.drop_table("audits")
