"""Commitments that name the seed of their window."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

HASH = sa.String(66)


def upgrade() -> None:
    """Makes the table anew: commitments signed without a seed are of a message type that nothing verifies any more."""
    _remake(sa.Column("window_seed", HASH, primary_key=True))


def downgrade() -> None:
    """Makes the table of before; its reader cannot verify commitments that name a seed, so none is carried over."""
    _remake()


def _remake(*seed: "sa.Column[str]") -> None:
    op.drop_table("commitments")
    op.create_table(
        "commitments",
        sa.Column("window_id", sa.BigInteger, primary_key=True, autoincrement=False),
        *seed,
        sa.Column("node", sa.String(42), primary_key=True),
        sa.Column("device", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("root", HASH, primary_key=True),
        sa.Column("m", sa.Integer, nullable=False),
        sa.Column("n", sa.Integer, nullable=False),
        sa.Column("steps", sa.Integer, nullable=False),
        sa.Column("signature", sa.LargeBinary, nullable=False),
        sa.Column("elapsed_ms", sa.BigInteger, nullable=False),
        sa.Column("first", sa.Boolean, nullable=False),
    )
