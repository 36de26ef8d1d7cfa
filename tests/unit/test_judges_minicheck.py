"""MiniCheck's prompt and two-logit probability against its public definition, one example at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from core.errors import InvalidInput  # noqa: E402
from core.records import Pair  # noqa: E402
from scorer import judges  # noqa: E402
from tests import tiny_t5  # noqa: E402

PAIRS = [tiny_t5.fact("Ada", "Rome", city) for city in tiny_t5.CITIES] + [Pair("Ada " * 30, "Rome"), Pair("a", "b")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_t5.random_t5(tmp_path_factory.mktemp("minicheck") / "t5", seed=5)


def public_definition(folder: Path, pair: Pair) -> float:
    """Softmax over the first-step logits of `0`'s and `1`'s first ids, for `predict: {doc}</s>{claim}`."""
    words = transformers.T5TokenizerFast.from_pretrained(folder)
    network = transformers.T5ForConditionalGeneration.from_pretrained(folder).eval()
    text = "predict: " + words.eos_token.join([pair.premise, pair.hypothesis])
    with torch.no_grad():
        ids = words(text, return_tensors="pt").input_ids
        logits = network(input_ids=ids, decoder_input_ids=torch.zeros((1, 1), dtype=torch.long)).logits[0, 0]
    return float(logits[[words.encode("0")[0], words.encode("1")[0]]].softmax(-1)[1])


def test_equals_the_public_definition_in_any_batch(folder: Path) -> None:
    expected = [public_definition(folder, pair) for pair in PAIRS]
    for budget in (1, 100, 4096):
        judged = judges.load(f"minicheck:{folder}?batch_tokens={budget}").judge(PAIRS)
        assert [judgment.p for judgment in judged] == pytest.approx(expected, abs=1e-5)
        assert [judgment.label for judgment in judged] == ["1" if p >= 0.5 else "0" for p in expected]


def test_differs_from_the_nli_reading_of_the_same_weights(folder: Path) -> None:
    assert judges.load(f"minicheck:{folder}").signature != judges.load(f"t5:{folder}").signature


def test_an_end_token_in_the_text_does_not_end_the_document(folder: Path) -> None:
    judge: Any = judges.load(f"minicheck:{folder}")
    rows, _ = judge._encode([Pair("a</s>b", "c</s>")])
    assert rows[0].count(judge.model.tokenizer.eos_token_id) == 2


def test_a_cap_cuts_the_document_only(folder: Path) -> None:
    judge: Any = judges.load(f"minicheck:{folder}?premise_cap=20")
    rows, cut = judge._encode([Pair("Ada " * 30, "in Rome"), Pair("Ada", "in Rome")])
    assert cut == [True, False]
    assert len(rows[0]) == 20
    assert judge.model.tokenizer.decode(rows[0], skip_special_tokens=True).endswith("in Rome")
    assert [("premise-cut" in judgment.flags) for judgment in judge.judge([Pair("Ada " * 30, "in Rome")])] == [True]


def test_compat_is_refused(folder: Path) -> None:
    with pytest.raises(InvalidInput, match="compat"):
        judges.load(f"minicheck:{folder}?compat=1")
