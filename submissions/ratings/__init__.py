"""Human ratings: batches in (preview, apply, revoke), raters at work, sheets and labels out."""

from __future__ import annotations

from submissions.ratings.apply import Ratings
from submissions.ratings.assignments import Assignments, Progress
from submissions.ratings.preview import Conflict, Preview
from submissions.ratings.raters import Raters
from submissions.ratings.sheets import Sheets
from submissions.ratings.work import RevisionTask, Task

__all__ = ["Assignments", "Conflict", "Preview", "Progress", "Raters", "Ratings", "RevisionTask", "Sheets", "Task"]
