"""The calibrated judge: its maps against scikit-learn, folds that never see their own labels, and honest gains."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from core.errors import InvalidInput, NotFound, Refused
from core.records import Judgment, Pair
from scorer import judges
from scorer.judges.anywhere import check_anywhere
from scorer.judges.calibrated import judge as files
from scorer.judges.calibrated.crossfit import FOLDS, Labelled, crossfit, fold_of, folds_of
from scorer.judges.calibrated.gain import gains
from scorer.judges.calibrated.label_files import read_labelled
from scorer.judges.calibrated.maps import CLIP, METHODS, Map, fit
from scorer.judges.calibrated.report import ACROSS, ALL, WITHIN, report
from scorer.statistics.resamples import Resamples, ResampleStore

STORE = ResampleStore()


def overconfident(n: int = 600, questions: int = 150, seed: int = 0) -> Labelled:
    """Labels whose true log-odds are 0.4 of what p says, less a half."""
    dice = np.random.default_rng(seed)
    z = dice.normal(0, 3, n)
    truth = 1 / (1 + np.exp(-(0.4 * z - 0.5)))
    groups = [f"question {at % questions}" for at in range(n)]
    lengths = dice.integers(5, 200, (n, 2)).astype(float)
    return Labelled(1 / (1 + np.exp(-z)), (dice.random(n) < truth).astype(float), groups, lengths)


def test_platt_is_scikit_learns() -> None:
    calibration = pytest.importorskip("sklearn.calibration")
    data = overconfident()
    z = np.log(np.clip(data.p, CLIP, 1 - CLIP) / (1 - np.clip(data.p, CLIP, 1 - CLIP)))
    theirs = calibration._SigmoidCalibration().fit(z, data.labels).predict(z)
    assert fit("platt", data.p, data.labels)(data.p) == pytest.approx(theirs, abs=1e-4)


def test_isotonic_is_scikit_learns() -> None:
    isotonic = pytest.importorskip("sklearn.isotonic")
    data = overconfident()
    p = np.round(data.p, 2)  # many ties
    floor = 1 / (len(p) + 2)
    theirs = isotonic.IsotonicRegression(y_min=floor, y_max=1 - floor, out_of_bounds="clip").fit(p, data.labels)
    grid = np.linspace(0, 1, 501)
    assert fit("isotonic", p, data.labels)(grid) == pytest.approx(theirs.predict(grid), abs=1e-9)


def test_lengths_are_a_logistic_regression_on_smoothed_targets() -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    data = overconfident(4000)
    z = np.log(np.clip(data.p, CLIP, 1 - CLIP) / (1 - np.clip(data.p, CLIP, 1 - CLIP)))
    x = np.column_stack([z, np.log1p(data.lengths)])
    theirs = linear.LogisticRegression(C=1e9, max_iter=10_000, tol=1e-10).fit(x, data.labels)
    found = fit("platt+length", data.p, data.labels, data.lengths).coefficients
    assert found == pytest.approx([theirs.intercept_[0], *theirs.coef_[0]], abs=0.01)  # smoothing moves it a little


def test_separable_labels_leave_the_map_finite() -> None:
    p = np.concatenate([np.zeros(30), np.ones(30)])
    found = fit("platt", p, p)
    assert np.isfinite(found.coefficients).all()
    assert found([0.0, 1.0]) == pytest.approx([1 / 32, 31 / 32], abs=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_a_map_survives_its_file_form(method: str) -> None:
    data = overconfident()
    found = fit(method, data.p, data.labels, data.lengths)
    again = Map.from_dict(json.loads(json.dumps(found.to_dict())))
    assert (again(data.p, data.lengths) == found(data.p, data.lengths)).all()
    assert ((found(data.p, data.lengths) > 0) & (found(data.p, data.lengths) < 1)).all()


@pytest.mark.parametrize("method", METHODS)
def test_no_question_is_scored_by_a_map_that_saw_its_labels(method: str) -> None:
    data = overconfident()
    before = crossfit(data, method).out_of_fold(data)
    asked = "question 7"
    own = np.array([group == asked for group in data.groups])
    turned = Labelled(data.p, np.where(own, 1 - data.labels, data.labels), data.groups, data.lengths)
    after = crossfit(turned, method).out_of_fold(turned)
    same_fold = folds_of(data.groups) == fold_of(asked)
    assert (after[same_fold] == before[same_fold]).all()
    assert (after[~same_fold] != before[~same_fold]).any()


def test_folds_do_not_depend_on_order_or_on_other_questions() -> None:
    data = overconfident()
    assert folds_of(data.groups[::-1])[::-1].tolist() == folds_of(data.groups).tolist()
    assert set(folds_of(data.groups).tolist()) == set(range(FOLDS))


def test_too_few_labels_give_a_reason_and_no_map() -> None:
    data = overconfident()
    few = data.subset(np.arange(len(data.p)) < 39)
    assert crossfit(few, "platt").reason == "39 judged answers have a label; 40 are needed to learn from."
    alike = Labelled(data.p, np.ones(len(data.p)), data.groups)
    found = crossfit(alike, "platt")
    assert "rarer class" in (found.reason or "")
    assert (found.maps, found.whole) == ((), None)


def test_the_digest_stands_for_the_labels_and_not_for_their_order() -> None:
    data = overconfident()
    back = Labelled(data.p[::-1], data.labels[::-1], data.groups[::-1])
    assert back.digest == data.digest
    assert Labelled(data.p, 1 - data.labels, data.groups).digest != data.digest


def test_gains_by_hand() -> None:
    raw, better, labels = np.array([0.9, 0.9, 0.2, 0.4]), np.array([0.6, 0.6, 0.2, 0.3]), np.array([1.0, 0, 0, 0])
    found = {each.measure: each for each in gains(raw, better, labels, list("abcd"), Resamples.draw(4, 200, 1))}
    assert found["brier"].raw == pytest.approx((0.01 + 0.81 + 0.04 + 0.16) / 4)
    assert found["accuracy"].raw == found["accuracy"].calibrated == 0.75
    assert found["auc"].raw == pytest.approx((0.5 + 1 + 1) / 3)
    assert found["auc"].difference == 0
    assert found["ece"].raw == pytest.approx((abs(1 - 1.8) + 0.2 + 0.4) / 4)
    assert found["log_loss"].calibrated == pytest.approx(-np.log([0.6, 0.4, 0.8, 0.7]).mean())
    assert found["brier"].difference == pytest.approx(found["brier"].calibrated - found["brier"].raw)


def test_gains_are_resampled_by_question() -> None:
    """Ten copies of each pair within its question leave the interval as wide as it was."""
    data = overconfident(60, 60)
    found = 1 / (1 + np.exp(-0.4 * np.log(data.p / (1 - data.p)) + 0.5))
    one = gains(data.p, found, data.labels, data.groups, STORE.get(60, 999, 1))[0]
    many = gains(
        np.tile(data.p, 10), np.tile(found, 10), np.tile(data.labels, 10), data.groups * 10, STORE.get(60, 999, 1)
    )[0]
    assert (many.interval.low, many.interval.high) == pytest.approx((one.interval.low, one.interval.high))
    assert one.raw_interval.low < one.raw < one.raw_interval.high
    assert one.calibrated_interval.low < one.calibrated < one.calibrated_interval.high


def test_the_auc_of_both_sides_is_resampled_together() -> None:
    data = overconfident(60, 60)
    other = np.random.default_rng(0).random(len(data.p))
    resamples = STORE.get(60, 299, 1)
    found = gains(data.p, other, data.labels, data.groups, resamples)[-1]
    places = {name: at for at, name in enumerate(dict.fromkeys(data.groups))}
    of = np.array([places[group] for group in data.groups])
    drawn = []
    for _, block in resamples.blocks():
        for counts in block:
            at = np.repeat(np.arange(len(of)), counts[of])
            drawn.append(roc_auc_score(data.labels[at], other[at]) - roc_auc_score(data.labels[at], data.p[at]))
    assert found.difference == pytest.approx(roc_auc_score(data.labels, other) - roc_auc_score(data.labels, data.p))
    assert found.interval.se == pytest.approx(np.std(drawn, ddof=1))
    assert found.interval.low < found.difference < found.interval.high


def test_one_class_has_no_auc() -> None:
    found = gains(np.array([0.1, 0.2]), np.array([0.1, 0.3]), np.ones(2), ["a", "b"], Resamples.draw(2, 100, 1))
    assert (found[-1].measure, found[-1].raw) == ("auc", None)
    assert found[-1].reason


def test_a_difference_without_an_interval_has_the_true_reason() -> None:
    p, rare = np.linspace(0.1, 0.9, 20), np.zeros(20)
    rare[7] = 1
    groups = [str(at) for at in range(20)]
    found = {each.measure: each for each in gains(p, p, rare, groups, STORE.get(20, 299, 1))}
    assert found["brier"].reason == "Every resample gives the same value."
    other = {each.measure: each for each in gains(p, p[::-1], rare, groups, STORE.get(20, 299, 1))}
    assert other["brier"].reason is None
    assert other["auc"].reason == "It is undefined in too many resamples."


def test_overconfidence_is_mended_and_seen() -> None:
    data = overconfident()
    line = report(data, [""] * len(data.p), "platt", STORE, 999, 1).lines[0]
    measured = {each.measure: each for each in line.gains}
    for measure in ("brier", "log_loss", "ece"):
        assert measured[measure].interval.high < 0
    assert abs(measured["auc"].difference) < 0.01


def test_report_by_source_leaves_the_source_out() -> None:
    left, right = overconfident(seed=1), overconfident(seed=2)
    p, labels = np.concatenate([left.p, right.p]), np.concatenate([left.labels, 1 - right.labels])
    groups = [f"a{g}" for g in left.groups] + [f"b{g}" for g in right.groups]
    sources = ["left"] * len(left.p) + ["right"] * len(right.p)
    lines = report(Labelled(p, labels, groups), sources, "platt", STORE, 99, 1).lines
    assert [(line.scope, line.source) for line in lines] == [
        (ALL, ""), (WITHIN, "left"), (ACROSS, "left"), (WITHIN, "right"), (ACROSS, "right"),
    ]  # fmt: skip
    brier = {(line.scope, line.source): line.gains[0].calibrated for line in lines}
    assert brier[ACROSS, "left"] > 0.3 > brier[WITHIN, "left"]  # the other source's labels are the wrong way round


class Half:
    """A base judge for tests: p is the number that the premise spells."""

    key, title, help, score_name, signature = "half", "Half", "", "Half", "judge:half@1|tmpl:aqa"

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment]:
        return [
            Judgment(0.0, "0", ("no-passage",)) if not pair.premise
            else Judgment(float(pair.premise), "1", ("near-threshold", "premise-cut"))
            for pair in pairs
        ]  # fmt: skip


def fitted(folder: Path) -> tuple[Path, Labelled, list[Pair]]:
    data = overconfident()
    pairs = [
        Pair(f"{p!r}", f"The answer to the question '{g}' is 'x{at}'", g, f"x{at}")
        for at, (p, g) in enumerate(zip(data.p.tolist(), data.groups, strict=True))
    ]
    path = folder / "maps.json"
    groups = [files.group_of(pair) for pair in pairs]
    data = Labelled(data.p, data.labels, groups, data.lengths)
    files.write(path, "half", Half.signature, crossfit(data, "platt"), groups, pairs)
    return path, data, pairs


def test_a_file_of_maps_is_a_judge_that_keeps_its_promise(tmp_path: Path) -> None:
    path, data, pairs = fitted(tmp_path)
    judge = files.Calibrated(Half(), files.read(path))
    fit = crossfit(data, "platt")
    assert [each.p for each in judge.judge(pairs)] == pytest.approx(fit.out_of_fold(data))
    bare = [Pair(pair.premise, pair.hypothesis) for pair in pairs[:5]]
    assert [each.p for each in judge.judge(bare)] == [each.p for each in judge.judge(pairs[:5])]
    (new,) = judge.judge([Pair("0.9", "anything")])
    assert new.p == pytest.approx(fit.whole([0.9])[0])
    assert new.flags == ("premise-cut",)
    assert judge.judge([Pair("", "anything")])[0].p == 0


def test_the_signature_names_labels_method_and_base_judge(tmp_path: Path) -> None:
    path, data, _ = fitted(tmp_path)
    told = files.Calibrated(Half(), files.read(path)).signature
    assert told.startswith("judge:calibrated@1+")
    for part in ("method:platt", f"folds:{FOLDS}", f"labels:{data.digest}", "base:half@1", "tmpl:aqa"):
        assert f"|{part}" in told


def test_files_that_are_no_maps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInput):
        judges.load("calibrated")
    with pytest.raises(NotFound):
        judges.load(f"calibrated:{tmp_path / 'nothing.json'}")
    broken = tmp_path / "broken.json"
    broken.write_text('{"version": 1}')
    with pytest.raises(InvalidInput):
        judges.load(f"calibrated:{broken}")
    path, _, _ = fitted(tmp_path)
    monkeypatch.setitem(judges.REGISTRY, "half", "scorer.judges.token_overlap:load")
    with pytest.raises(InvalidInput, match="fitted to judge:half"):
        judges.load(f"calibrated:{path}")


def test_label_files_of_both_forms(tmp_path: Path) -> None:
    rows = [
        {"question": "Who?", "answer": "Ada", "passage": "Ada did.", "supported": True, "source": "s"},
        {"premise": "Ada did.", "hypothesis": "Bob did.", "supported": 0},
        {"claim": "Ada [1] did.", "references": ["[1] Ada did."], "attribution_label": "attributable",
         "question": "Who did?", "src_dataset": "t"},
        {"claim": "Ada did.", "references": [], "attribution_label": "not attributable"},
    ]  # fmt: skip
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = read_labelled(path)
    assert found.labels == [1.0, 0.0, 1.0]
    assert found.sources == ["s", "", "t"]
    assert found.pairs[2] == Pair("Ada did.", "Ada did.")
    assert found.groups[1] == "Bob did."
    assert found.groups[2].casefold().startswith("who did")
    path.write_text('{"premise": "a", "hypothesis": "b"}\n{"supported": true}\nno json\n')
    with pytest.raises(Refused) as refused:
        read_labelled(path)
    assert [place.row for place in refused.value.places] == [1, 2, 3]


def test_what_means_the_same_judge_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path, _, _ = fitted(tmp_path)
    for spec in ("small", "t5:owner/model@main", "nli:/models/one?dtype=fp32", f"calibrated:{path}"):
        check_anywhere(spec)
    with pytest.raises(InvalidInput, match="other workers"):
        check_anywhere(f"calibrated:{path.name}")
    held = json.loads(path.read_text())
    path.write_text(json.dumps(held | {"base": "t5:./model"}))
    with pytest.raises(InvalidInput, match=r"t5:\./model"):
        check_anywhere(f"calibrated:{path}")
