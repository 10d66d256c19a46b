"""Evidence that other members passed on: commitments without a time of this member, proofs marked as heard."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Lets a commitment have no time and marks proofs that were heard."""
    with op.batch_alter_table("commitments") as table:
        table.alter_column("elapsed_ms", existing_type=sa.BigInteger, nullable=True)
    op.add_column("proofs", sa.Column("heard", sa.Boolean, nullable=False, server_default=sa.false()))


def downgrade() -> None:
    """Drops what was heard: the reader of before would take it for this member's own."""
    op.execute(sa.text("DELETE FROM commitments WHERE elapsed_ms IS NULL"))
    op.execute(sa.text("DELETE FROM proofs WHERE heard"))
    with op.batch_alter_table("proofs") as table:
        table.drop_column("heard")
    with op.batch_alter_table("commitments") as table:
        table.alter_column("elapsed_ms", existing_type=sa.BigInteger, nullable=False)
