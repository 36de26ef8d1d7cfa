"""Scoring anew, and from when on evaluations were shown."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "rescore",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("benchmark_id", sa.String(length=64), nullable=False),
        sa.Column("judge", sa.String(length=300), nullable=False),
        sa.Column("recipe", sa.String(length=500), nullable=False),
        sa.Column("released_too", sa.Boolean(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["benchmark_id"], ["benchmark.id"], name=op.f("fk_rescore_benchmark_id_benchmark"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rescore")),
    )
    with op.batch_alter_table("rescore", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_rescore_benchmark_id"), ["benchmark_id"], unique=False)

    op.create_table(
        "rescore_item",
        sa.Column("rescore_id", sa.Integer(), nullable=False),
        sa.Column("submission_id", sa.String(length=24), nullable=False),
        sa.Column("evaluation_id", sa.Integer(), nullable=True),
        sa.Column("before_id", sa.Integer(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("left_out", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["before_id"], ["evaluation.id"], name=op.f("fk_rescore_item_before_id_evaluation"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["evaluation_id"],
            ["evaluation.id"],
            name=op.f("fk_rescore_item_evaluation_id_evaluation"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["rescore_id"], ["rescore.id"], name=op.f("fk_rescore_item_rescore_id_rescore"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submission.id"],
            name=op.f("fk_rescore_item_submission_id_submission"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("rescore_id", "submission_id", name=op.f("pk_rescore_item")),
    )
    with op.batch_alter_table("rescore_item", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_rescore_item_submission_id"), ["submission_id"], unique=False)

    op.create_table(
        "shown_evaluation",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("submission_id", sa.String(length=24), nullable=False),
        sa.Column("evaluation_id", sa.Integer(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["evaluation_id"],
            ["evaluation.id"],
            name=op.f("fk_shown_evaluation_evaluation_id_evaluation"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submission.id"],
            name=op.f("fk_shown_evaluation_submission_id_submission"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_shown_evaluation")),
    )
    with op.batch_alter_table("shown_evaluation", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_shown_evaluation_evaluation_id"), ["evaluation_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_shown_evaluation_submission_id"), ["submission_id"], unique=False)

    with op.batch_alter_table("benchmark", schema=None) as batch_op:
        batch_op.add_column(sa.Column("judge", sa.String(length=300), nullable=True))

    # Until now an evaluation was shown, of every submission of its content, from the moment it was made.
    op.execute(
        "INSERT INTO shown_evaluation (submission_id, evaluation_id, since)"
        " SELECT submission.id, evaluation.id, evaluation.created_at FROM submission JOIN evaluation"
        " ON evaluation.benchmark_id = submission.benchmark_id AND evaluation.digest = submission.digest"
        " ORDER BY evaluation.id, submission.id"
    )


def downgrade() -> None:
    with op.batch_alter_table("benchmark", schema=None) as batch_op:
        batch_op.drop_column("judge")

    with op.batch_alter_table("shown_evaluation", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_shown_evaluation_submission_id"))
        batch_op.drop_index(batch_op.f("ix_shown_evaluation_evaluation_id"))

    op.drop_table("shown_evaluation")
    with op.batch_alter_table("rescore_item", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_rescore_item_submission_id"))

    op.drop_table("rescore_item")
    with op.batch_alter_table("rescore", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_rescore_benchmark_id"))

    op.drop_table("rescore")
