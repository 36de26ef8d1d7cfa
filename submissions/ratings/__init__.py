"""Human ratings: batches in (preview, apply, revoke), sheets and labels out."""

from __future__ import annotations

from submissions.ratings.apply import Ratings
from submissions.ratings.preview import Conflict, Preview
from submissions.ratings.raters import Raters

__all__ = ["Conflict", "Preview", "Raters", "Ratings"]
