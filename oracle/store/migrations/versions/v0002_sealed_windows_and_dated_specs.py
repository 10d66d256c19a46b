"""Windows that are sealed before they are closed on chain, specs with the time they came."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Adds the columns; windows and specs of before count as open and as very old."""
    with op.batch_alter_table("windows") as windows:
        windows.add_column(sa.Column("sealed", sa.Boolean, nullable=False, server_default=sa.false()))
    with op.batch_alter_table("specs") as specs:
        specs.add_column(sa.Column("received_at", sa.BigInteger, nullable=False, server_default="0"))


def downgrade() -> None:
    """Drops them."""
    with op.batch_alter_table("specs") as specs:
        specs.drop_column("received_at")
    with op.batch_alter_table("windows") as windows:
        windows.drop_column("sealed")
