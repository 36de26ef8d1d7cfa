"""Human ratings: batches in (preview, apply, revoke), raters at work, sheets and labels out."""

from __future__ import annotations

from submissions.ratings.apply import Ratings
from submissions.ratings.assignments import Assignments, Progress, Task
from submissions.ratings.preview import Conflict, Preview
from submissions.ratings.raters import Raters
from submissions.ratings.sheets import Sheets

__all__ = ["Assignments", "Conflict", "Preview", "Progress", "Raters", "Ratings", "Sheets", "Task"]
