"""Which sentence splitter numbered the sentences that a batch rates."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("rating_batch", schema=None) as batch_op:
        batch_op.add_column(sa.Column("splitter", sa.String(length=80), nullable=True))
    # There was no other until now.
    op.execute(
        "UPDATE rating_batch SET splitter = 'pysbd-0.3.4.1' "
        "WHERE id IN (SELECT batch_id FROM edit_rating WHERE sentence > 0)"
    )


def downgrade() -> None:
    with op.batch_alter_table("rating_batch", schema=None) as batch_op:
        batch_op.drop_column("splitter")
