"""Sheets of revisions that raters work on."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    json = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
    op.create_table(
        "rating_sheet_revision",
        sa.Column("sheet_id", sa.Integer(), nullable=False),
        sa.Column("row", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("revision", sa.LargeBinary(length=16), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("report", json, nullable=False),
        sa.Column("asked", json, nullable=False),
        sa.ForeignKeyConstraint(
            ["sheet_id"],
            ["rating_sheet.id"],
            name=op.f("fk_rating_sheet_revision_sheet_id_rating_sheet"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("sheet_id", "row", name=op.f("pk_rating_sheet_revision")),
        sa.UniqueConstraint("sheet_id", "revision", name=op.f("uq_rating_sheet_revision_sheet_id_revision")),
    )


def downgrade() -> None:
    # Batches of such sheets keep their ratings; without the sheet nobody can go on with those that are open.
    op.drop_table("rating_sheet_revision")
