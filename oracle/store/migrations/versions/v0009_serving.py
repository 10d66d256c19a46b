"""Serving: what nodes offered to this member, and what its probes found."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Creates the tables."""
    op.create_table(
        "serving_offers",
        sa.Column("epoch", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("node", sa.String(42), primary_key=True),
        sa.Column("url", sa.String(64), nullable=False),
        sa.Column("rate", sa.BigInteger, nullable=False),
        sa.Column("issued_at", sa.BigInteger, nullable=False),
        sa.Column("member", sa.String(42), nullable=False),
        sa.Column("signature", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "probes",
        sa.Column("epoch", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("node", sa.String(42), primary_key=True),
        sa.Column("claim", sa.BigInteger, nullable=False),
        sa.Column("probed_at", sa.BigInteger, nullable=False),
        sa.Column("outcome", sa.String(16), nullable=False),
        sa.Column("reason", sa.String(64), nullable=False),
        sa.Column("units", sa.BigInteger, nullable=False),
        sa.Column("error_bps", sa.Integer),
        sa.Column("p50_us", sa.BigInteger),
        sa.Column("p95_us", sa.BigInteger),
        sa.Column("p99_us", sa.BigInteger),
        sa.Column("ttft_us", sa.BigInteger),
    )


def downgrade() -> None:
    """Drops them: an observation without measurements is as true as before."""
    op.drop_table("probes")
    op.drop_table("serving_offers")
