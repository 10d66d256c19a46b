"""The lease of the process that acts, and the boot of the machine that measured a time."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Adds the table and the columns; times of before were measured under a boot that nobody knows."""
    op.create_table(
        "leases",
        sa.Column("name", sa.String(32), primary_key=True),
        sa.Column("holder", sa.String(64), nullable=False),
        sa.Column("token", sa.BigInteger, nullable=False),
        sa.Column("lasts_ms", sa.BigInteger, nullable=False),
        sa.Column("expires_ms", sa.BigInteger, nullable=False),
    )
    with op.batch_alter_table("windows") as windows:
        windows.add_column(sa.Column("seen_boot", sa.String(64)))
    with op.batch_alter_table("heartbeats") as heartbeats:
        heartbeats.add_column(sa.Column("boot", sa.String(64), nullable=False, server_default=""))


def downgrade() -> None:
    """Drops them."""
    with op.batch_alter_table("heartbeats") as heartbeats:
        heartbeats.drop_column("boot")
    with op.batch_alter_table("windows") as windows:
        windows.drop_column("seen_boot")
    op.drop_table("leases")
