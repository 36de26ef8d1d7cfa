"""The forms in which a passage's text travels: the corpus's, the raters' (`Title: …`), and plain text."""

from __future__ import annotations

import re

from core.corpus import parse_contents
from core.records import Passage

_RATING_FORM = re.compile(r"Title: ([^\n]*)\n(?:Section: ([^\n]*)\n)?\n(.*)", re.DOTALL)


def rating_text(passage: Passage) -> str:
    """`Title: …\\nSection: …\\n\\ntext`, as AQA's released ratings and its raters read it.

    The section is what the headings add to the title; where they do not begin with it, all of them.
    """
    title, headings = passage.title, passage.headings
    section = "" if headings == title else headings.removeprefix(f"{title}, ")
    lines = [f"Title: {title}", *([f"Section: {section}"] if section else []), "", passage.text]
    return "\n".join(lines)


def parse_passage(text: str, identifier: str = "") -> Passage:
    """A passage from any of the three forms; plain text has neither title nor headings."""
    parts = parse_contents(text)
    if parts is not None:
        return Passage(identifier, *parts)
    found = _RATING_FORM.fullmatch(text)
    if found is None:
        return Passage(identifier, "", "", text)
    title, section, body = found.groups()
    return Passage(identifier, title, f"{title}, {section}" if section else title, body)
