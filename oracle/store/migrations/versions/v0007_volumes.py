"""Volumes: what this member gave nodes to keep, and how much of it they have confirmed."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Creates the table."""
    op.create_table(
        "volumes",
        sa.Column("volume_id", sa.String(66), primary_key=True),
        sa.Column("node", sa.String(42), nullable=False),
        sa.Column("member", sa.String(42), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("epoch", sa.Integer, nullable=False),
        sa.Column("key_hash", sa.String(66), nullable=False),
        sa.Column("confirmed", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("sent", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("sent_epoch", sa.Integer, nullable=False, server_default="0"),
        sa.Column("sent_now", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("retired", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("key", sa.String(66)),
        sa.UniqueConstraint("node", "member", "number"),
    )


def downgrade() -> None:
    """Drops it: nodes start anew, what they held stops counting."""
    op.drop_table("volumes")
