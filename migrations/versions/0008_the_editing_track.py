"""The editing track: which track a benchmark is of, contexts, revisions and what people said of them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:

    op.create_table(
        "edit_rating",
        sa.Column("batch_id", sa.Integer(), nullable=False),
        sa.Column("row", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("benchmark_id", sa.String(length=64), nullable=False),
        sa.Column("revision", sa.LargeBinary(length=16), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("sentence", sa.Integer(), nullable=False),
        sa.Column("rater", sa.String(length=80), nullable=False),
        sa.Column("positive", sa.Boolean(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["batch_id"], ["rating_batch.id"], name=op.f("fk_edit_rating_batch_id_rating_batch"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["benchmark_id"], ["benchmark.id"], name=op.f("fk_edit_rating_benchmark_id_benchmark"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("batch_id", "row", name=op.f("pk_edit_rating")),
        sa.UniqueConstraint(
            "batch_id", "revision", "sentence", "rater", name=op.f("uq_edit_rating_batch_id_revision_sentence_rater")
        ),
    )
    with op.batch_alter_table("edit_rating", schema=None) as batch_op:
        batch_op.create_index("ix_edit_rating_benchmark_revision", ["benchmark_id", "revision"], unique=False)

    op.create_table(
        "revision",
        sa.Column("submission_id", sa.String(length=24), nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("report", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submission.id"], name=op.f("fk_revision_submission_id_submission"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("submission_id", "position", name=op.f("pk_revision")),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("benchmark", schema=None) as batch_op:
        batch_op.add_column(sa.Column("track", sa.String(length=16), server_default="qa", nullable=False))

    with op.batch_alter_table("question", schema=None) as batch_op:
        batch_op.add_column(
            sa.Column(
                "context", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), server_default="[]", nullable=False
            )
        )


def downgrade() -> None:

    with op.batch_alter_table("question", schema=None) as batch_op:
        batch_op.drop_column("context")

    with op.batch_alter_table("benchmark", schema=None) as batch_op:
        batch_op.drop_column("track")

    op.drop_table("revision")
    with op.batch_alter_table("edit_rating", schema=None) as batch_op:
        batch_op.drop_index("ix_edit_rating_benchmark_revision")

    op.drop_table("edit_rating")
