"""Checks that every cell of every kind of file has to pass."""

from __future__ import annotations

import re

from submissions.formats.findings import Findings, excerpt
from submissions.formats.limits import Limits, readable_size

_SURROGATE = re.compile("[\ud800-\udfff]")


def check_cell(row: int, column: str, text: str, start: str, limits: Limits, findings: Findings) -> bool:
    """True if `text` can be kept as it is; else a problem is reported. `start` is the row's beginning."""
    where = f"Column “{excerpt(column)}”"
    if "\0" in text:
        findings.problem("nul_byte", f"{where} holds a NUL character. Remove it.", row, excerpt(start))
        return False
    if text.isascii():
        size = len(text)
    elif _SURROGATE.search(text):
        message = f"{where} holds half a character (a lone surrogate). Write whole characters."
        findings.problem("lone_surrogate", message, row, excerpt(start))
        return False
    else:
        size = len(text) if len(text) * 4 <= limits.field_bytes else len(text.encode("utf-8"))
    if size > limits.field_bytes:
        longest = readable_size(limits.field_bytes)
        message = f"{where} is {readable_size(size)} long; the longest value allowed is {longest}."
        findings.problem("overlong_field", message, row, excerpt(start))
        return False
    return True
