"""Cross-encoder judges: label maps, special tokens, length limits, equality with a plain reference."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from core.errors import InvalidInput, NotFinite  # noqa: E402
from core.records import Pair  # noqa: E402
from scorer import judges  # noqa: E402
from scorer.judges.sequence_classification import entailment  # noqa: E402

PAIRS = [Pair("ada is in rome " * times, "ada is in oslo " * (1 + times % 3)) for times in (1, 7, 2, 5, 3)]
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "ada", "is", "in", "rome", "oslo", "[", "]", "sep", "s"]
THREE = {0: "contradiction", 1: "ENTAILMENT", 2: "neutral"}


def checkpoint(folder: Path, labels: dict[int, str], kind: str = "bert") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(WORDS), encoding="utf-8")
    shape = {
        "vocab_size": 40,
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 32,
    }
    torch.manual_seed(4)
    if kind == "bert":
        config = transformers.BertConfig(**shape, max_position_embeddings=48, id2label=labels)
        network = transformers.BertForSequenceClassification(config)
    else:
        config = transformers.DebertaV2Config(
            **shape, relative_attention=True, position_biased_input=False, pos_att_type=["p2c", "c2p"],
            type_vocab_size=0, max_relative_positions=16, id2label=labels,
        )  # fmt: skip
        network = transformers.DebertaV2ForSequenceClassification(config)
    network.save_pretrained(folder)
    transformers.BertTokenizerFast.from_pretrained(folder).save_pretrained(folder)
    return folder


def reference(folder: Path, pairs: list[Pair]) -> Any:
    """Softmax rows by the model's own tokenizer and forward, one pair at a time."""
    words = transformers.AutoTokenizer.from_pretrained(folder)
    network = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    names = ["input_ids", "attention_mask"] + ["token_type_ids"] * (network.config.type_vocab_size > 1)
    with torch.no_grad():
        inputs = [words(pair.premise, pair.hypothesis, return_tensors="pt") for pair in pairs]
        return [network(**{name: row[name] for name in names}).logits[0].softmax(-1).tolist() for row in inputs]


@pytest.mark.parametrize("kind", ["bert", "deberta"])
@pytest.mark.parametrize(
    "labels, place",
    [
        (THREE, 1),
        ({0: "entailment", 1: "neutral", 2: "contradiction"}, 0),
        ({0: "not_entailment", 1: "entailment"}, 1),
        ({0: "entailment", 1: "not-entailment"}, 0),
        ({0: "Contradiction", 1: "Neutral", 2: "Entailment"}, 2),
    ],
)
def test_equals_the_reference_for_any_order_of_labels(
    tmp_path: Path, labels: dict[int, str], place: int, kind: str
) -> None:
    folder = checkpoint(tmp_path, labels, kind)
    pairs = [pair for pair in PAIRS if len((pair.premise + pair.hypothesis).split()) < 44]
    expected = reference(folder, pairs)
    for budget in (1, 64, 4096):
        judged = judges.load(f"nli:{folder}?batch_tokens={budget}").judge(pairs)
        assert [judgment.p for judgment in judged] == pytest.approx([row[place] for row in expected], abs=1e-5)
        assert [judgment.label for judgment in judged] == [labels[row.index(max(row))].lower() for row in expected]


@pytest.mark.parametrize(
    "labels",
    [
        {0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"},
        {0: "entailment", 1: "entailed"},
        {0: "neutral", 1: "contradiction"},
        {0: "entailment"},
        {0: "entailment", 1: "positive"},
    ],
)
def test_a_label_map_that_does_not_tell_is_refused(tmp_path: Path, labels: dict[int, str]) -> None:
    with pytest.raises(InvalidInput, match="cannot be told"):
        judges.load(f"nli:{checkpoint(tmp_path, labels)}")
    with pytest.raises(InvalidInput):
        entailment(labels, "x")


def test_a_premise_is_cut_to_the_positions_and_flagged(tmp_path: Path) -> None:
    judge = judges.load(f"nli:{checkpoint(tmp_path, THREE)}")
    assert "|cap:48" in judge.signature
    long, short = Pair("ada " * 300, "in rome"), Pair("ada", "in rome")
    fitting = Pair("ada " * (48 - 3 - 2), "in rome")
    judged = judge.judge([long, short, fitting])
    assert ["premise-cut" in judgment.flags for judgment in judged] == [True, False, False]
    assert judged[0].p == pytest.approx(judged[2].p, abs=1e-6)


def test_a_hypothesis_is_never_cut(tmp_path: Path) -> None:
    (judgment,) = judges.load(f"nli:{checkpoint(tmp_path, THREE)}").judge([Pair("ada", "rome " * 100)])
    assert judgment.p == 0
    assert judgment.flags == ("hypothesis-too-long",)


def test_relative_positions_have_no_limit(tmp_path: Path) -> None:
    judge = judges.load(f"nli:{checkpoint(tmp_path, THREE, 'deberta')}")
    assert "cap:" not in judge.signature
    (judgment,) = judge.judge([Pair("ada is " * 400, "in rome")])
    assert "premise-cut" not in judgment.flags


def test_special_tokens_in_the_text_are_inert(tmp_path: Path) -> None:
    judge: Any = judges.load(f"nli:{checkpoint(tmp_path, THREE)}")
    rows, _, _ = judge._encode([Pair("ada [SEP] [PAD] in", "[CLS] rome [SEP]")])
    ids = [number for number, _ in rows[0]]
    assert ids.count(WORDS.index("[SEP]")) == 2
    assert ids.count(WORDS.index("[CLS]")) == 1
    assert WORDS.index("[PAD]") not in ids


def test_nan_stops(tmp_path: Path) -> None:
    judge: Any = judges.load(f"nli:{checkpoint(tmp_path, THREE)}")
    with torch.no_grad():
        judge._network.classifier.bias[0] = float("nan")
    with pytest.raises(NotFinite):
        judge.judge(PAIRS)


def test_changed_weights_change_the_signature(tmp_path: Path) -> None:
    folder = checkpoint(tmp_path, THREE)
    before = judges.load(f"nli:{folder}").signature
    (folder / "README.md").write_text("notes", encoding="utf-8")
    assert judges.load(f"nli:{folder}").signature == before
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(config | {"hidden_act": "relu"}), encoding="utf-8")
    assert judges.load(f"nli:{folder}").signature != before
