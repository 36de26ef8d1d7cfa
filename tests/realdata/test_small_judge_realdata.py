"""The small judge on real data: what is promised for articles and passages that no fit has seen."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from core.errors import Unavailable
from core.records import Passage
from core.templates import qa_pair
from scorer.judges import load, small_encoder, small_model

pytestmark = [pytest.mark.realdata, pytest.mark.timeout(600)]
PER_ARTICLE, HUMAN = 25, 150
KINDS = ("gold", "plausible", "unrelated", "human")


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


@pytest.fixture(scope="module")
def held_out(shared_data: Path) -> tuple[list[str], np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Kinds, truth, out-of-fold scores and baselines of a sample of every SQuAD article, refitted without it.

    Of few passages per article all rows are taken, because passages cost most of the time.
    """
    pytest.importorskip("sklearn", reason="the refit needs the extra `train`")
    from scorer.judges.training.small_fit import Recipe, cross_validate
    from scorer.judges.training.small_rows import HUMAN_SHARE, SHARES, qa_rows
    from scorer.judges.training.train_small import feature_matrix

    content = json.loads(Path(small_model.__file__).with_name("small_weights.json").read_bytes())
    try:
        encoder = small_encoder.load("", content["encoder"]["sha256"])
    except Unavailable as error:
        pytest.skip(f"{error.message}: {error.hint}")
    rows = [row for row in qa_rows(shared_data / "judge") if row.kind in KINDS]
    order = {premise: k for k, premise in enumerate(sorted({row.premise for row in rows}))}
    random.Random(0).shuffle(places := list(order.values()))
    rows.sort(key=lambda row: places[order[row.premise]])
    seen: Counter[tuple[str, str]] = Counter()
    kept = []
    for row in rows:
        key = ("human" if row.kind == "human" else row.group, row.kind)
        seen[key] += 1
        if seen[key] <= (HUMAN if row.kind == "human" else PER_ARTICLE):
            kept.append(row)
    # The sample takes equally many of each kind, so the stated mix has to be weighed in anew.
    counts = Counter(row.kind for row in kept)
    weight = np.array([SHARES.get(row.kind, HUMAN_SHARE) / counts[row.kind] for row in kept]) * len(kept)
    names, x = feature_matrix(kept, encoder)
    truth = np.array([row.supported for row in kept])
    chosen = content["cross_validation"]["qa"]["recipe"]
    recipe = Recipe(chosen["C"], chosen["trees_share"])
    p = cross_validate(names, x, truth, weight, [r.group for r in kept], recipe)
    baselines = {name: x[:, names.index(name)] for name in ("a_words", "cosine", "passage_words")}
    return [row.kind for row in kept], truth, p, baselines


def test_held_out_articles_beat_the_baselines(held_out: tuple) -> None:
    from sklearn.metrics import roc_auc_score

    kinds, truth, p, baselines = held_out
    chosen = np.isin(kinds, ("gold", "plausible"))
    ours = roc_auc_score(truth[chosen], p[chosen])
    for name, score in baselines.items():
        assert ours > roc_auc_score(truth[chosen], score[chosen]), name


def test_held_out_articles_are_calibrated(held_out: tuple) -> None:
    from scorer.judges.training.small_fit import calibration_error

    kinds, truth, p, _ = held_out
    chosen = np.isin(kinds, ("gold", "plausible"))
    assert calibration_error(p[chosen], truth[chosen]) <= 0.12


def test_held_out_unrelated_passages_are_refused(held_out: tuple) -> None:
    kinds, _, p, _ = held_out
    assert (p[np.array(kinds) == "unrelated"] >= 0.5).mean() <= 0.05


def test_unrelated_passages_of_the_target_task_are_refused(shared_data: Path) -> None:
    """Answers of a real system with another question's passage: nothing here was used in the fit."""
    try:
        judge = load("small")
    except Unavailable as error:
        pytest.skip(f"{error.message}: {error.hint}")
    answers = lines(sorted((shared_data / "answers").glob("*.jsonl"))[0])
    corpus = lines(shared_data / "corpus" / "passages.jsonl")
    dice = random.Random(1)
    pairs = []
    while len(pairs) < 200:
        row, unit = dice.choice(answers), dice.choice(corpus)
        answer, contents = str(row["prediction"]), str(unit["contents"])
        if answer.strip() and answer.lower() not in contents.lower():
            title, _, rest = contents.removeprefix("« ").partition(" » « ")
            headings, _, text = rest.partition(" » ")
            pairs.append(qa_pair(str(row["question"]), answer, Passage(str(unit["id"]), title, headings, text)))
    judged = judge.judge(pairs)
    assert np.mean([j.p >= 0.5 for j in judged]) <= 0.05
