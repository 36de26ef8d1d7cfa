"""The small judge's properties; its quality on real data is in tests/realdata."""

from __future__ import annotations

import hashlib
import random
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from core.errors import InvalidInput, Unavailable
from core.records import Pair, Passage
from core.templates import qa_pair
from scorer.judges import load, small, small_encoder
from scorer.judges.options import Options
from scorer.judges.small import Small
from scorer.judges.small_encoder import Tokens

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


def test_tokens_know_their_places(judge: Small) -> None:
    tokens: Tokens = judge._encoder.encode("Café Müller opened")
    assert next(tokens.text[s:e] for s, e in zip(tokens.starts, tokens.ends, strict=True)).startswith("Ca")
    assert np.linalg.norm(tokens.vectors, axis=1) == pytest.approx(1, abs=1e-5)
