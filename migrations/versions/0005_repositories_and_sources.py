"""Repositories and sources."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "hub_account",
        sa.Column("user", sa.String(length=96), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_hub_account_team_id_team"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user", name=op.f("pk_hub_account")),
    )
    op.create_table(
        "namespace",
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("slug", sa.String(length=96), nullable=False),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_namespace_team_id_team"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("team_id", name=op.f("pk_namespace")),
        sa.UniqueConstraint("slug", name=op.f("uq_namespace_slug")),
    )
    op.create_table(
        "repo",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=96), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_repo_team_id_team"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_repo")),
        sa.UniqueConstraint("team_id", "name", name=op.f("uq_repo_team_id_name")),
    )
    op.create_table(
        "repo_entry",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("repo_id", sa.Integer(), nullable=False),
        sa.Column("path", sa.String(length=500), nullable=False),
        sa.Column("added", sa.Integer(), nullable=False),
        sa.Column("removed", sa.Integer(), nullable=True),
        sa.Column("blob", sa.String(length=64), nullable=False),
        sa.Column("oid", sa.String(length=40), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["repo_id"], ["repo.id"], name=op.f("fk_repo_entry_repo_id_repo"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_repo_entry")),
    )
    with op.batch_alter_table("repo_entry", schema=None) as batch_op:
        batch_op.create_index("ix_repo_entry_repo_path", ["repo_id", "path"], unique=False)

    op.create_table(
        "repo_upload",
        sa.Column("repo_id", sa.Integer(), nullable=False),
        sa.Column("blob", sa.String(length=64), nullable=False),
        sa.Column("oid", sa.String(length=40), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["repo_id"], ["repo.id"], name=op.f("fk_repo_upload_repo_id_repo"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("repo_id", "blob", name=op.f("pk_repo_upload")),
    )
    op.create_table(
        "inbox_file",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("repo", sa.String(length=200), nullable=False),
        sa.Column("path", sa.String(length=500), nullable=False),
        sa.Column("content", sa.String(length=64), nullable=False),
        sa.Column("commit", sa.String(length=40), nullable=False),
        sa.Column("pull_request", sa.Integer(), nullable=True),
        sa.Column("submission_id", sa.String(length=24), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submission.id"],
            name=op.f("fk_inbox_file_submission_id_submission"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_inbox_file")),
        sa.UniqueConstraint("repo", "path", "content", name=op.f("uq_inbox_file_repo_path_content")),
    )
    op.create_table(
        "repo_commit",
        sa.Column("repo_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("oid", sa.String(length=40), nullable=False),
        sa.Column("author", sa.String(length=96), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("by_service", sa.Boolean(), nullable=False),
        sa.Column("submission_id", sa.String(length=24), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["repo_id"], ["repo.id"], name=op.f("fk_repo_commit_repo_id_repo"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submission.id"],
            name=op.f("fk_repo_commit_submission_id_submission"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("repo_id", "seq", name=op.f("pk_repo_commit")),
        sa.UniqueConstraint("repo_id", "oid", name=op.f("uq_repo_commit_repo_id_oid")),
    )
    with op.batch_alter_table("repo_commit", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_repo_commit_submission_id"), ["submission_id"], unique=False)

    op.create_table(
        "submission_source",
        sa.Column("submission_id", sa.String(length=24), nullable=False),
        sa.Column("reference", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submission.id"],
            name=op.f("fk_submission_source_submission_id_submission"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("submission_id", name=op.f("pk_submission_source")),
    )


def downgrade() -> None:
    op.drop_table("submission_source")
    with op.batch_alter_table("repo_commit", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_repo_commit_submission_id"))

    op.drop_table("repo_commit")
    op.drop_table("inbox_file")
    op.drop_table("repo_upload")
    with op.batch_alter_table("repo_entry", schema=None) as batch_op:
        batch_op.drop_index("ix_repo_entry_repo_path")

    op.drop_table("repo_entry")
    op.drop_table("repo")
    op.drop_table("namespace")
    op.drop_table("hub_account")
