"""Reads predictions files, and any other table of text, into rows plus one report that names every bad row."""

from __future__ import annotations

from submissions.formats.decode import open_file
from submissions.formats.findings import Findings, excerpt
from submissions.formats.join import QuestionIndex, RawRow
from submissions.formats.limits import Limits
from submissions.formats.predictions import Accepted, ReadFile, Resolve, content_digest, read_predictions, read_rows
from submissions.formats.rows import TableRow
from submissions.formats.table import Table, read_table
from submissions.formats.template import KINDS, template

__all__ = [
    "KINDS",
    "Accepted",
    "Findings",
    "Limits",
    "QuestionIndex",
    "RawRow",
    "ReadFile",
    "Resolve",
    "Table",
    "TableRow",
    "content_digest",
    "excerpt",
    "open_file",
    "read_predictions",
    "read_rows",
    "read_table",
    "template",
]
