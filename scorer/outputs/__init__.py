"""Scored outputs: what a team or another party takes away from an evaluation (formats: docs/formats.md)."""

from __future__ import annotations

from core.tabular import escape_formula
from scorer.outputs.examples import COLUMNS, Example, examples
from scorer.outputs.files import KINDS, write_all, write_examples
from scorer.outputs.manifest import Source
from scorer.outputs.record import Outputs, from_evaluation, from_stored
from scorer.outputs.scores import in_order, judge_name, scores_document

__all__ = [
    "COLUMNS",
    "KINDS",
    "Example",
    "Outputs",
    "Source",
    "escape_formula",
    "examples",
    "from_evaluation",
    "from_stored",
    "in_order",
    "judge_name",
    "scores_document",
    "write_all",
    "write_examples",
]
