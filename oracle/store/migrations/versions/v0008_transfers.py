"""Transfers of bandwidth audits: with what a payload is made, and when it left and came back."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Creates the table."""
    op.create_table(
        "transfers",
        sa.Column("audit_id", sa.String(66), primary_key=True),
        sa.Column("secret", sa.LargeBinary, nullable=False),
        sa.Column("began_ms", sa.BigInteger, nullable=False),
        sa.Column("boot", sa.String(64), nullable=False),
        sa.Column("sent_root", sa.String(66)),
        sa.Column("landed_ms", sa.BigInteger),
        sa.Column("fault", sa.String(32), nullable=False, server_default=""),
    )


def downgrade() -> None:
    """Drops it: audits under way prove nothing, what was judged stays."""
    op.drop_table("transfers")
