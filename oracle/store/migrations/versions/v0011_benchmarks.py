"""Benchmarks: the newest report of each node about itself."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Creates the table."""
    op.create_table(
        "benchmarks",
        sa.Column("node", sa.String(42), primary_key=True),
        sa.Column("signed_at", sa.BigInteger, nullable=False),
        sa.Column("figures", sa.LargeBinary, nullable=False),
        sa.Column("signature", sa.LargeBinary, nullable=False),
    )


def downgrade() -> None:
    """Drops it: nothing but a page depends on what nodes say of themselves."""
    op.drop_table("benchmarks")
