"""Ratings: sheets, near keys, pseudonyms, raters left out.

No version before this one wrote a rating; rows that are there come from a later one that was taken back to it.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from core.text import near_key

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "rater_salt",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("salt", sa.LargeBinary(length=16), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rater_salt")),
    )
    op.create_table(
        "rater_exclusion",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("benchmark_id", sa.String(length=64), nullable=False),
        sa.Column("rater", sa.String(length=80), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("excluded_by", sa.String(length=80), nullable=False),
        sa.Column("excluded_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("restored_by", sa.String(length=80), nullable=True),
        sa.Column("restored_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["benchmark_id"],
            ["benchmark.id"],
            name=op.f("fk_rater_exclusion_benchmark_id_benchmark"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rater_exclusion")),
    )
    with op.batch_alter_table("rater_exclusion", schema=None) as batch_op:
        batch_op.create_index("ix_rater_exclusion_benchmark_rater", ["benchmark_id", "rater"], unique=False)

    op.create_table(
        "rating_sheet",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("benchmark_id", sa.String(length=64), nullable=False),
        sa.Column("method", sa.String(length=16), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("population", sa.Integer(), nullable=False),
        sa.Column("submissions", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("author", sa.String(length=80), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["benchmark_id"], ["benchmark.id"], name=op.f("fk_rating_sheet_benchmark_id_benchmark"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rating_sheet")),
    )
    with op.batch_alter_table("rating_sheet", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_rating_sheet_benchmark_id"), ["benchmark_id"], unique=False)

    op.create_table(
        "rating_sheet_row",
        sa.Column("sheet_id", sa.Integer(), nullable=False),
        sa.Column("row", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("triple", sa.LargeBinary(length=16), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("passage_id", sa.Text(), nullable=False),
        sa.Column("stratum", sa.String(length=40), nullable=False),
        sa.Column("probability", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["sheet_id"],
            ["rating_sheet.id"],
            name=op.f("fk_rating_sheet_row_sheet_id_rating_sheet"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("sheet_id", "row", name=op.f("pk_rating_sheet_row")),
        sa.UniqueConstraint("sheet_id", "triple", name=op.f("uq_rating_sheet_row_sheet_id_triple")),
    )
    with op.batch_alter_table("rating", schema=None) as batch_op:
        batch_op.add_column(sa.Column("near", sa.LargeBinary(length=16), nullable=True))
        batch_op.add_column(sa.Column("known", sa.Boolean(), nullable=True))
        batch_op.add_column(sa.Column("system", sa.Text(), nullable=True))
    _fill_ratings()
    with op.batch_alter_table("rating", schema=None) as batch_op:
        batch_op.alter_column("near", existing_type=sa.LargeBinary(length=16), nullable=False)
        batch_op.alter_column("system", existing_type=sa.Text(), nullable=False)
        batch_op.alter_column("rated_at", existing_type=sa.String(length=40), type_=sa.Text(), existing_nullable=True)
        batch_op.create_index("ix_rating_benchmark_near", ["benchmark_id", "near"], unique=False)
        batch_op.create_index("ix_rating_benchmark_rater", ["benchmark_id", "rater"], unique=False)
        batch_op.create_unique_constraint(
            batch_op.f("uq_rating_batch_id_triple_rater"), ["batch_id", "triple", "rater"]
        )

    with op.batch_alter_table("rating_batch", schema=None) as batch_op:
        batch_op.add_column(sa.Column("sheet_id", sa.Integer(), nullable=True))
        batch_op.add_column(sa.Column("qualification", sa.Boolean(), server_default=sa.false(), nullable=False))
        batch_op.add_column(sa.Column("opened_at", sa.DateTime(timezone=True), nullable=True))
    op.execute("UPDATE rating_batch SET opened_at = applied_at")
    with op.batch_alter_table("rating_batch", schema=None) as batch_op:
        batch_op.alter_column("opened_at", existing_type=sa.DateTime(timezone=True), nullable=False)
        batch_op.alter_column("applied_at", existing_type=sa.DateTime(timezone=True), nullable=True)
        batch_op.create_index(batch_op.f("ix_rating_batch_sheet_id"), ["sheet_id"], unique=False)
        batch_op.create_foreign_key(
            batch_op.f("fk_rating_batch_sheet_id_rating_sheet"), "rating_sheet", ["sheet_id"], ["id"]
        )


def _fill_ratings() -> None:
    """What the code writes into these columns, for the rows that are there."""
    rating = sa.table(
        "rating", sa.column("batch_id"), sa.column("row"), sa.column("position"), sa.column("answer"),
        sa.column("passage_id"), sa.column("near"), sa.column("system"),
    )  # fmt: skip
    connection = op.get_bind()
    found = connection.execute(
        sa.select(rating.c.batch_id, rating.c.row, rating.c.position, rating.c.answer, rating.c.passage_id)
    ).all()
    keys = [{"b": r.batch_id, "r": r.row, "n": near_key(r.position, r.answer, r.passage_id)} for r in found]
    mine = (rating.c.batch_id == sa.bindparam("b")) & (rating.c.row == sa.bindparam("r"))
    if keys:
        connection.execute(sa.update(rating).where(mine).values(near=sa.bindparam("n"), system=""), keys)


def downgrade() -> None:
    # The older version knows no batch that was opened and not yet applied.
    op.execute("DELETE FROM rating WHERE batch_id IN (SELECT id FROM rating_batch WHERE applied_at IS NULL)")
    op.execute("DELETE FROM rating_batch WHERE applied_at IS NULL")
    with op.batch_alter_table("rating_batch", schema=None) as batch_op:
        batch_op.drop_constraint(batch_op.f("fk_rating_batch_sheet_id_rating_sheet"), type_="foreignkey")
        batch_op.drop_index(batch_op.f("ix_rating_batch_sheet_id"))
        batch_op.alter_column("applied_at", existing_type=sa.DateTime(timezone=True), nullable=False)
        batch_op.drop_column("opened_at")
        batch_op.drop_column("qualification")
        batch_op.drop_column("sheet_id")

    with op.batch_alter_table("rating", schema=None) as batch_op:
        batch_op.drop_constraint(batch_op.f("uq_rating_batch_id_triple_rater"), type_="unique")
        batch_op.drop_index("ix_rating_benchmark_rater")
        batch_op.drop_index("ix_rating_benchmark_near")
        batch_op.alter_column("rated_at", existing_type=sa.Text(), type_=sa.String(length=40), existing_nullable=True)
        batch_op.drop_column("system")
        batch_op.drop_column("known")
        batch_op.drop_column("near")

    op.drop_table("rating_sheet_row")
    with op.batch_alter_table("rating_sheet", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_rating_sheet_benchmark_id"))

    op.drop_table("rating_sheet")
    with op.batch_alter_table("rater_exclusion", schema=None) as batch_op:
        batch_op.drop_index("ix_rater_exclusion_benchmark_rater")

    op.drop_table("rater_exclusion")
    op.drop_table("rater_salt")
