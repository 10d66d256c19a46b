"""Job inputs, and what a member computed where a node committed to something else."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Creates the table, and the columns that name a mismatch."""
    op.create_table(
        "job_inputs",
        sa.Column("job_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("content_hash", sa.String(66), primary_key=True),
        sa.Column("content", sa.LargeBinary, nullable=False),
    )
    op.add_column("job_verdicts", sa.Column("content", sa.Integer))
    op.add_column("job_verdicts", sa.Column("computed", sa.String(66)))


def downgrade() -> None:
    """Drops them: verdicts stay, without what would confirm a lie."""
    op.drop_column("job_verdicts", "computed")
    op.drop_column("job_verdicts", "content")
    op.drop_table("job_inputs")
