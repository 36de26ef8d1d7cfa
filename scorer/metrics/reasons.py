"""Why a prediction cannot be attributable, whatever a judge or rater would say."""

from __future__ import annotations

from core.records import Prediction

ABSENT_ANSWER = "absent_answer"
ABSENT_ATTRIBUTION = "absent_attribution"
UNKNOWN_ATTRIBUTION = "unknown_attribution"


def unattributable(prediction: Prediction | None) -> str | None:
    """The reason, or None where there is something to judge."""
    if prediction is None or not prediction.answer.strip():
        return ABSENT_ANSWER
    if not prediction.attribution.strip():
        return ABSENT_ATTRIBUTION
    if prediction.passage_id is None:
        return UNKNOWN_ATTRIBUTION
    return None
