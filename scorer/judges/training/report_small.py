"""The shipped small judge on human-labelled triples: `python -m scorer.judges.training.report_small --file FILE`.

FILE is JSONL with `question`, `answer`, `claim`, `references`, `attribution_label`. Meant to be run once, when
nothing is left to choose. Prints AUC, balanced accuracy and shares with 95 % bootstrap intervals, both modes and
baselines.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from core.records import Pair, Passage
from core.templates import hypothesis
from scorer.judges import small
from scorer.judges.options import Options
from scorer.judges.small_text import Reading
from scorer.judges.token_overlap import TokenOverlap
from scorer.judges.training.small_fit import calibration_error
from scorer.judges.training.small_rows import read

Floats = npt.NDArray[np.float64]
RESAMPLES, SEED = 9_999, 20221215


def interval(statistic: Callable[[Floats, Floats], float], y: Floats, p: Floats) -> list[float]:
    """The statistic and its 95 % percentile bootstrap interval over rows; resamples of one class are left out."""
    dice = np.random.default_rng(SEED)
    found: list[float] = []
    while len(found) < RESAMPLES:
        rows = dice.integers(0, len(y), len(y))
        if 0 < y[rows].sum() < len(y):
            found.append(statistic(y[rows], p[rows]))
    return [round(float(v), 4) for v in (statistic(y, p), *np.percentile(found, (2.5, 97.5)))]


def _pair(question: str, answer: str, premise: str) -> Pair:
    return Pair(premise, hypothesis(question, answer), question, answer, Passage("", "", "", premise))


def main() -> None:
    """Print the report as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file", type=Path, required=True)
    rows = read(parser.parse_args().file)
    y = np.array([row["attribution_label"] == "attributable" for row in rows], dtype=float)
    premises = ["\n".join(row["references"]) for row in rows]
    qa = [_pair(row["question"], row["answer"], premise) for row, premise in zip(rows, premises, strict=True)]
    bare = [Pair(premise, row["claim"]) for row, premise in zip(rows, premises, strict=True)]
    judge = small.load("", Options())
    there = [float(bool(Reading(premise).mentions(row["answer"]))) for row, premise in zip(rows, premises, strict=True)]
    scores = {
        "small, question and answer": np.array([j.p for j in judge.judge(qa)]),
        "small, bare claim": np.array([j.p for j in judge.judge(bare)]),
        "token overlap": np.array([j.p for j in TokenOverlap().judge(qa)]),
        "answer in passage": np.array(there),
    }
    report = {
        name: {
            "auc": interval(roc_auc_score, y, p),
            "balanced_accuracy": interval(lambda t, s: balanced_accuracy_score(t, s >= 0.5), y, p),
            "accepted": round(float((p >= 0.5).mean()), 4),
            "ece": round(calibration_error(p, y.astype(bool)), 4),
        }
        for name, p in scores.items()
    }
    print(json.dumps({"rows": len(y), "attributable": int(y.sum()), "signature": judge.signature, **report}, indent=1))


if __name__ == "__main__":
    main()
