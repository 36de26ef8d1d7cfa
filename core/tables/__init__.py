"""The database's tables as SQLAlchemy 2.0 typed models, one module per subject."""

from core.tables.accounts import Team, Token
from core.tables.audit import AuditEvent
from core.tables.base import Base
from core.tables.benchmarks import BenchmarkRow, ExemplarRow, QuestionRow
from core.tables.boards import BoardSnapshot
from core.tables.editing import EditRatingRow, RevisionRow, SheetRevision
from core.tables.evaluations import EvaluationRow, ScoreRow, ValuesRow
from core.tables.ratings import RaterExclusion, RaterSalt, RatingBatch, RatingRow, RatingSheet, SheetRow
from core.tables.repos import NamespaceRow, Repo, RepoCommit, RepoEntry, RepoUpload
from core.tables.requests import SentRequest
from core.tables.rescores import Rescore, RescoreItem, ShownEvaluation
from core.tables.runs import RunRow
from core.tables.sources import HubAccount, InboxFile, SubmissionSource
from core.tables.submissions import PredictionRow, Submission, System
from core.tables.uploads import Upload, UploadPart
from core.tables.webhooks import Webhook, WebhookDelivery
from core.tables.work import Job, JudgeRow, JudgmentRow, PausedQueue, Tally

__all__ = [
    "AuditEvent",
    "Base",
    "BenchmarkRow",
    "BoardSnapshot",
    "EditRatingRow",
    "EvaluationRow",
    "ExemplarRow",
    "HubAccount",
    "InboxFile",
    "Job",
    "JudgeRow",
    "JudgmentRow",
    "NamespaceRow",
    "PausedQueue",
    "PredictionRow",
    "QuestionRow",
    "RaterExclusion",
    "RaterSalt",
    "RatingBatch",
    "RatingRow",
    "RatingSheet",
    "Repo",
    "RepoCommit",
    "RepoEntry",
    "RepoUpload",
    "Rescore",
    "RescoreItem",
    "RevisionRow",
    "RunRow",
    "ScoreRow",
    "SentRequest",
    "SheetRevision",
    "SheetRow",
    "ShownEvaluation",
    "Submission",
    "SubmissionSource",
    "System",
    "Tally",
    "Team",
    "Token",
    "Upload",
    "UploadPart",
    "ValuesRow",
    "Webhook",
    "WebhookDelivery",
]
