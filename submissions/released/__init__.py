"""The paper's released ratings: read, joined, and made into systems, labels and judgments."""

from __future__ import annotations

from submissions.released.corpus import FROM_RELEASE, FromRelease, write_corpus
from submissions.released.gather import Gathered, gather
from submissions.released.names import card_of
from submissions.released.rows import COLUMNS, ReleasedRow, file_digest, stream

__all__ = [
    "COLUMNS",
    "FROM_RELEASE",
    "FromRelease",
    "Gathered",
    "ReleasedRow",
    "card_of",
    "file_digest",
    "gather",
    "stream",
    "write_corpus",
]
