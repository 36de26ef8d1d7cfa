"""Human ratings: batches in (preview, apply, revoke), sheets and labels out."""

from __future__ import annotations

from submissions.ratings.apply import Ratings
from submissions.ratings.preview import Conflict, Preview

__all__ = ["Conflict", "Preview", "Ratings"]
