"""What the lists that are newest first are asked by, a page at a time."""

from __future__ import annotations

from apiflask import Schema, fields
from apiflask.validators import Length, OneOf, Range

from server.lists import MOST


class PageQuery(Schema):
    """Which page: `limit` lines, those before the id of the last one that was seen."""

    before = fields.Integer(load_default=0, validate=Range(min=0, max=2**31 - 1))
    limit = fields.Integer(load_default=100, validate=Range(min=1, max=MOST))


def text_filter(most: int, description: str = "") -> fields.String:
    """A text of at most so many characters to be equal to; left out, nothing is asked of it."""
    return fields.String(load_default="", validate=Length(max=most), metadata=_told(description))


def chosen_filter(*names: str) -> fields.String:
    """The same, one of a few names."""
    return fields.String(load_default="", validate=OneOf(["", *names]))


def _told(description: str) -> dict[str, str]:
    return {"description": description} if description else {}
