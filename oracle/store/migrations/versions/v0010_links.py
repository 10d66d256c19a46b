"""Links: where nodes answer pings, what pairs of them reported, and how far each is from this member."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Creates the tables."""
    op.create_table(
        "link_endpoints",
        sa.Column("epoch", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("node", sa.String(42), primary_key=True),
        sa.Column("host", sa.String(39), nullable=False),
        sa.Column("port", sa.Integer, nullable=False),
        sa.Column("issued_at", sa.BigInteger, nullable=False),
        sa.Column("signature", sa.LargeBinary, nullable=False),
        sa.Column("provider_id", sa.BigInteger, nullable=False),
        sa.Column("region", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "link_reports",
        sa.Column("epoch", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("first", sa.String(42), primary_key=True),
        sa.Column("second", sa.String(42), primary_key=True),
        sa.Column("digest", sa.String(66), primary_key=True),
        sa.Column("rtt_us", sa.BigInteger, nullable=False),
        sa.Column("jitter_us", sa.BigInteger, nullable=False),
        sa.Column("loss_ppm", sa.Integer, nullable=False),
        sa.Column("throughput_mbps", sa.BigInteger),
        sa.Column("first_signature", sa.LargeBinary, nullable=False),
        sa.Column("second_signature", sa.LargeBinary),
    )
    op.create_table(
        "link_trips",
        sa.Column("epoch", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("node", sa.String(42), primary_key=True),
        sa.Column("rtt_us", sa.BigInteger, nullable=False),
    )


def downgrade() -> None:
    """Drops them: an observation without links is as true as before."""
    op.drop_table("link_trips")
    op.drop_table("link_reports")
    op.drop_table("link_endpoints")
