"""Announcements, parts of jobs, paused queues and tallies."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:

    op.create_table(
        "paused_queue",
        sa.Column("queue", sa.String(length=16), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("queue", name=op.f("pk_paused_queue")),
    )
    op.create_table(
        "tally",
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_tally")),
    )
    with op.batch_alter_table("job", schema=None) as batch_op:
        batch_op.add_column(sa.Column("parent", sa.Integer(), nullable=True))
        batch_op.add_column(sa.Column("announced_at", sa.DateTime(timezone=True), nullable=True))
        batch_op.create_index(batch_op.f("ix_job_parent"), ["parent"], unique=False)


def downgrade() -> None:

    with op.batch_alter_table("job", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_job_parent"))
        batch_op.drop_column("announced_at")
        batch_op.drop_column("parent")

    op.drop_table("tally")
    op.drop_table("paused_queue")
