"""The database's tables as SQLAlchemy 2.0 typed models, one module per subject."""

from core.tables.accounts import Team, Token
from core.tables.base import Base
from core.tables.benchmarks import BenchmarkRow, ExemplarRow, QuestionRow
from core.tables.evaluations import EvaluationRow, ScoreRow, ValuesRow
from core.tables.ratings import RaterExclusion, RaterSalt, RatingBatch, RatingRow, RatingSheet, SheetRow
from core.tables.requests import SentRequest
from core.tables.runs import RunRow
from core.tables.submissions import PredictionRow, Submission, System
from core.tables.work import Job, JudgeRow, JudgmentRow

__all__ = [
    "Base",
    "BenchmarkRow",
    "EvaluationRow",
    "ExemplarRow",
    "Job",
    "JudgeRow",
    "JudgmentRow",
    "PredictionRow",
    "QuestionRow",
    "RaterExclusion",
    "RaterSalt",
    "RatingBatch",
    "RatingRow",
    "RatingSheet",
    "RunRow",
    "ScoreRow",
    "SentRequest",
    "SheetRow",
    "Submission",
    "System",
    "Team",
    "Token",
    "ValuesRow",
]
