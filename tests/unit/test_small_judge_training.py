"""How the small judge was fitted: its rows, folds and calibration."""

from __future__ import annotations

import numpy as np
import pytest

from scorer.judges import small_model


def test_exported_model_is_what_was_fitted() -> None:
    pytest.importorskip("sklearn", reason="the fit needs the extra `train`")
    from scorer.judges.training.small_fit import Recipe, boosted, fit, predict

    dice = np.random.default_rng(0)
    x = dice.normal(size=(600, 3))
    y = x[:, 0] * x[:, 1] + 0.3 * dice.normal(size=600) > 0
    weight = dice.uniform(0.5, 2, size=600)
    ours = predict(small_model.model(fit(["a", "b", "c"], x, y, weight, Recipe(0.1, 1.0))), x)
    theirs = boosted(x, y, weight).predict_proba(x)[:, 1]
    assert ours == pytest.approx(theirs, abs=1e-6)
    assert np.corrcoef(ours, y)[0, 1] > 0.7


def test_calibration_error() -> None:
    pytest.importorskip("sklearn", reason="the fit needs the extra `train`")
    from scorer.judges.training.small_fit import calibration_error

    truth = np.array([True, False, True, True])
    assert calibration_error(np.array([0.75, 0.75, 0.75, 0.75]), truth) == pytest.approx(0)
    assert calibration_error(np.array([1.0, 0.0, 0.0, 1.0]), truth) == pytest.approx(0.25)


def test_training_rows_never_make_a_negative_of_a_right_answer() -> None:
    pytest.importorskip("sklearn", reason="the fit needs the extra `train`")
    from scorer.judges.training.small_rows import squad_rows

    text = "Marta Lindqvist designed it, Otto Brandt kept it and Ines Carvalho painted it."
    common = {"passage": text, "plausible_but_unsupported": []}
    asked = [("T", "Who designed it?", ["Marta Lindqvist", "Lindqvist"]), ("T", "Who kept it?", ["Otto Brandt"])]
    rows = [{"title": t, "question": q, "answers": a, **common} for t, q, a in asked]
    rows.append({"title": "U", "question": "Who slept?", "passage": "Nobody slept.", "answers": ["Nobody"],
                 "plausible_but_unsupported": []})  # fmt: skip
    made = list(squad_rows(rows))
    assert {row.kind for row in made} == {"gold", "wrong", "other", "unrelated"}
    for row in made:
        if row.question == "Who designed it?" and row.kind in ("wrong", "other"):
            assert "Lindqvist" not in row.answer
            assert not row.supported
        if row.kind == "unrelated":
            assert not row.premise.startswith(row.group)
    assert made == list(squad_rows(rows))


def test_each_fold_of_the_comparison_holds_out_a_source_and_its_share_of_articles() -> None:
    pytest.importorskip("sklearn", reason="the fit needs the extra `train`")
    from scorer.judges.training.choose_small import CANDIDATES, fold_of, folds
    from scorer.judges.training.small_rows import Row

    articles = [Row("gold", f"article {k % 7}", "q", "a", "p", True) for k in range(70)]
    human = [Row("human", f"question {k}", "q", "a", "p", True, source=f"source {k % 3}") for k in range(9)]
    elsewhere = Row("fool_me_twice", "page", None, "a", "p", True)
    known = folds(articles + human)
    held = [fold_of(row, known) for row in articles]
    assert sorted(held.count(k) for k in range(3)) == [20, 20, 30]
    assert len({(row.group, fold) for row, fold in zip(articles, held, strict=True)}) == 7
    assert {(row.source, fold_of(row, known)) for row in human} == {("source 0", 0), ("source 1", 1), ("source 2", 2)}
    assert fold_of(elsewhere, known) == -1
    assert len(CANDIDATES) == 10
    assert all(sum(share for _, share in parts) == pytest.approx(1) for parts in CANDIDATES.values())


def test_rescaled_logits_are_calibrated_where_the_raw_ones_are_not() -> None:
    pytest.importorskip("sklearn", reason="the fit needs the extra `train`")
    from scorer.judges.training.choose_small import rescaling
    from scorer.judges.training.small_fit import calibration_error

    dice = np.random.default_rng(0)
    logit = dice.normal(size=20_000)
    truth = dice.uniform(size=20_000) < 1 / (1 + np.exp(-logit))
    raw = 3 * logit + 2
    slope, intercept = rescaling(raw, truth, np.ones(20_000))
    assert slope == pytest.approx(1 / 3, abs=0.02)
    assert calibration_error(1 / (1 + np.exp(-(slope * raw + intercept))), truth) < 0.02
    assert calibration_error(1 / (1 + np.exp(-raw)), truth) > 0.1
