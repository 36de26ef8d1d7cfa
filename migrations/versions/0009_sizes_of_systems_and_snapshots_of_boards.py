"""Sizes of systems and snapshots of boards."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "board_snapshot",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("benchmark_id", sa.String(length=64), nullable=False),
        sa.Column("taken_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("systems", sa.Integer(), nullable=False),
        sa.Column("rank_by", sa.String(length=120), nullable=True),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("board", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.ForeignKeyConstraint(
            ["benchmark_id"],
            ["benchmark.id"],
            name=op.f("fk_board_snapshot_benchmark_id_benchmark"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_board_snapshot")),
    )
    with op.batch_alter_table("board_snapshot", schema=None) as batch_op:
        batch_op.create_index("ix_board_snapshot_benchmark_taken", ["benchmark_id", "taken_at"], unique=False)

    with op.batch_alter_table("system", schema=None) as batch_op:
        batch_op.add_column(sa.Column("size", sa.Double(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("system", schema=None) as batch_op:
        batch_op.drop_column("size")

    with op.batch_alter_table("board_snapshot", schema=None) as batch_op:
        batch_op.drop_index("ix_board_snapshot_benchmark_taken")

    op.drop_table("board_snapshot")
