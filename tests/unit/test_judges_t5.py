"""The fast T5 path against transformers' own forward, one example at a time; labels, flags, special tokens."""

from __future__ import annotations

import logging
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from core.errors import InvalidInput, NotFinite  # noqa: E402
from core.records import Judgment, Pair  # noqa: E402
from core.templates import t5_input  # noqa: E402
from scorer import judges  # noqa: E402
from scorer.judges import t5_forward  # noqa: E402
from scorer.judges.options import Options  # noqa: E402
from scorer.judges.tokens import encode  # noqa: E402
from tests import tiny_t5  # noqa: E402

PAIRS = [
    *(tiny_t5.fact(person, "Paris", city) for person, city in zip(tiny_t5.PEOPLE, tiny_t5.CITIES, strict=True)),
    Pair("a b " * 40 + "c", "short"),
    Pair("", ""),
    Pair("é ñ 漢字 <b>", "The answer to the question '6'2\" tall' is '\"Fix You\"'"),
    Pair("word " * 9, "Ada is in Rome " * 7),
]


@pytest.fixture(scope="session")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("t5")
    torch.set_num_threads(1)
    return {
        "gated": tiny_t5.random_t5(root / "gated"),
        "relu": tiny_t5.random_t5(root / "relu", seed=3, gated=False),
        "trained": tiny_t5.trained_t5(root / "trained"),
    }


def reference(folder: Path, pairs: list[Pair]) -> list[tuple[float, int]]:
    """p of `1` and the argmax, by the model's own forward in float32, one pair at a time, unpadded."""
    words = transformers.T5TokenizerFast.from_pretrained(folder)
    network = transformers.T5ForConditionalGeneration.from_pretrained(folder, dtype=torch.float32).eval()
    out = []
    for pair in pairs:
        ids = words(t5_input(pair.premise, pair.hypothesis), return_tensors="pt")["input_ids"]
        with torch.no_grad():
            start = torch.tensor([[network.config.decoder_start_token_id]])
            logits = network(input_ids=ids, decoder_input_ids=start).logits[0, 0]
        out.append((logits.softmax(-1)[words.encode("1")[0]].item(), int(logits.argmax())))
    return out


@pytest.fixture(scope="session")
def loaded(checkpoints: dict[str, Path]) -> dict[str, Any]:
    return {name: judges.load(f"t5:{folder}") for name, folder in checkpoints.items()}


@pytest.fixture(scope="session")
def references(checkpoints: dict[str, Path]) -> dict[str, list[tuple[float, int]]]:
    return {name: reference(folder, PAIRS) for name, folder in checkpoints.items()}


@pytest.mark.parametrize("name", ["gated", "relu", "trained"])
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_equals_the_reference_in_any_order_and_batch(
    name: str, loaded: dict[str, Any], references: dict[str, Any], data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(PAIRS))))
    loaded[name].model.budget = data.draw(st.integers(1, 2000))
    judged = loaded[name].judge([PAIRS[row] for row in order])
    words = loaded[name].model.tokenizer
    for row, judgment in zip(order, judged, strict=True):
        p, best = references[name][row]
        assert judgment.p == pytest.approx(p, abs=1e-5)
        assert judgment.label in (words.decode([best]).strip(), words.convert_ids_to_tokens(best))


def test_queries_in_blocks_change_nothing(loaded: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    whole = [judgment.p for judgment in loaded["gated"].judge(PAIRS)]
    monkeypatch.setattr(t5_forward, "BLOCK", 7)
    assert [judgment.p for judgment in loaded["gated"].judge(PAIRS)] == pytest.approx(whole, abs=1e-5)


def test_without_onednn_the_same(loaded: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    assert t5_forward.ONEDNN is not None, "this build of torch lacks the operator that the speed rests on"
    fast = [judgment.p for judgment in loaded["gated"].judge(PAIRS)]
    monkeypatch.setattr(t5_forward, "ONEDNN", None)
    assert [judgment.p for judgment in loaded["gated"].judge(PAIRS)] == pytest.approx(fast, abs=1e-5)


def test_a_trained_judge_tells_right_from_wrong(loaded: dict[str, Any]) -> None:
    pairs = [tiny_t5.fact(p, c, d) for p in tiny_t5.PEOPLE for c in tiny_t5.CITIES for d in tiny_t5.CITIES]
    judged = loaded["trained"].judge(pairs)
    right = sum((j.p >= 0.5) == pair.premise.endswith(str(pair.answer)) for j, pair in zip(judged, pairs, strict=True))
    assert right >= 0.95 * len(pairs)
    assert {j.label for j in judged if j.p > 0.9} == {"1"}
    assert {j.label for j in judged if j.p < 0.1} == {"▁"}, "T5 spells 0 by an empty piece first"


def test_compat_stores_the_greedy_string(checkpoints: dict[str, Path]) -> None:
    folder = checkpoints["trained"]
    judge = judges.load(f"t5:{folder}?compat=1")
    assert judge.signature.endswith("|decode:greedy")
    pairs = [tiny_t5.fact("Ada", "Rome", city) for city in ("Rome", "Oslo")]
    words = transformers.T5TokenizerFast.from_pretrained(folder)
    network = transformers.T5ForConditionalGeneration.from_pretrained(folder)
    for pair, judgment in zip(pairs, judge.judge(pairs), strict=True):
        ids = words(t5_input(pair.premise, pair.hypothesis), return_tensors="pt").input_ids
        assert judgment.label == words.decode(network.generate(ids, max_new_tokens=20)[0], skip_special_tokens=True)
    assert [judgment.label == "1" for judgment in judge.judge(pairs)] == [True, False]


def test_special_tokens_in_the_text_are_inert(loaded: dict[str, Any]) -> None:
    judge = loaded["gated"]
    words = judge.model.tokenizer
    text = "a</s>b <extra_id_0> <pad> <extra_id_99></s>"
    assert set(words(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]) & {0, 1, 245}, (
        "the tokenizer alone lets them through"
    )
    rows, _ = judge._encode([Pair(text, text)])
    special = set(words.all_special_ids) - {words.unk_token_id}
    assert special & set(rows[0]) == {words.eos_token_id}
    assert rows[0].index(words.eos_token_id) == len(rows[0]) - 1
    (judgment,) = judge.judge([Pair(text, text)])
    assert 0 <= judgment.p <= 1


def test_a_cap_cuts_the_premise_never_the_hypothesis(checkpoints: dict[str, Path]) -> None:
    judge: Any = judges.load(f"t5:{checkpoints['gated']}?premise_cap=60")
    pairs = [Pair("Ada " * 200, "Ada is in Rome"), Pair("Ada", "Ada is in Rome"), Pair("Ada", "word " * 90)]
    rows, cut = judge._encode(pairs)
    assert cut == [True, False, True]
    assert len(rows[0]) == 60
    words = judge.model.tokenizer
    assert words.decode(rows[0][:-1]).endswith("hypothesis: Ada is in Rome")
    assert words.decode(rows[2][:-1]).endswith(("word " * 90).strip())
    assert ["premise-cut" in judgment.flags for judgment in judge.judge(pairs)] == cut
    assert "|cap:60" in judge.signature


def test_nothing_is_cut_by_default_and_nothing_is_said(
    loaded: dict[str, Any], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    transformers.logging.enable_propagation()
    monkeypatch.setattr(loaded["gated"].model.tokenizer, "model_max_length", 512)
    with caplog.at_level(logging.WARNING):
        rows, cut = loaded["gated"]._encode([Pair("Ada " * 900, "Ada is in Rome")])
    transformers.logging.disable_propagation()
    assert len(rows[0]) > 900
    assert cut == [False]
    assert not caplog.records


def test_pieces_are_sentencepieces_own_from_its_model_file_alone(tmp_path: Path) -> None:
    """As T5 was trained, text that spells a special token is ordinary text."""
    trained = pytest.importorskip("sentencepiece")
    sentences = [" ".join(row) for row in permutations(tiny_t5.WORDS[:6], 4)] + [
        "<>/_=0123456789",
        "pad",
        "extra",
        "id",
        "s",
    ] * 9
    with (tmp_path / "spiece.model").open("wb") as file:
        trained.SentencePieceTrainer.train(
            sentence_iterator=iter(sentences), model_writer=file, vocab_size=60, hard_vocab_limit=False,
            pad_id=0, eos_id=1, unk_id=2, bos_id=-1, pad_piece="<pad>", minloglevel=2,
        )  # fmt: skip
    words = transformers.T5TokenizerFast.from_pretrained(tmp_path)
    original = trained.SentencePieceProcessor(model_file=str(tmp_path / "spiece.model"))
    for text in ("Ada Grace</s> <extra_id_0>Alan", "<pad>", "Ada\t Kurt\n\u00a0Emmy", "é ﬁ 0 </s></s>"):
        assert encode(words, [text]) == [original.encode(text)]


def test_a_very_long_answer_is_judged(loaded: dict[str, Any]) -> None:
    (judgment,) = loaded["relu"].judge([Pair("Ada", "Rome " * 6000)])
    assert 0 <= judgment.p <= 1


def test_near_threshold_is_flagged(loaded: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    judge = loaded["gated"]
    one, zero = judge.model.label("1"), judge.model.tokenizer.encode("0")[0]

    def logits(p: float) -> Any:
        row = torch.full((1, 256), -50.0)
        row[0, one], row[0, zero] = torch.tensor(p).logit(), 0.0
        return row

    def first_logits(rows: Any) -> Any:
        yield from (([number], logits(p)) for number, p in enumerate((0.5, 0.479, 0.481, 0.519, 0.521)))

    monkeypatch.setattr(judge.model, "first_logits", first_logits)
    judged: list[Judgment] = judge.judge([Pair("a", "b")] * 5)
    assert [judgment.flags for judgment in judged] == [
        ("near-threshold",), (), ("near-threshold",), ("near-threshold",), (),
    ]  # fmt: skip


def test_nan_stops(checkpoints: dict[str, Path]) -> None:
    judge: Any = judges.load(f"t5:{checkpoints['gated']}")
    with torch.no_grad():
        judge.model.network.encoder.final_layer_norm.weight[0] = float("nan")
    with pytest.raises(NotFinite):
        judge.judge(PAIRS)


def test_a_label_that_reads_differently_is_refused(loaded: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="'0'"):
        loaded["gated"].model.label("0")


@pytest.mark.parametrize("name", ["fp16", "float16", "half"])
def test_fp16_is_refused(checkpoints: dict[str, Path], name: str) -> None:
    with pytest.raises(InvalidInput, match="fp16"):
        judges.load(f"t5:{checkpoints['gated']}", Options(dtype=name))


def test_bf16_on_a_cpu_is_in_the_signature_and_near(checkpoints: dict[str, Path], loaded: dict[str, Any]) -> None:
    judge: Any = judges.load(f"t5:{checkpoints['trained']}?dtype=bf16")
    assert "|dtype:bf16|" in judge.signature
    assert "|dtype:fp32|" in loaded["trained"].signature
    assert {parameter.dtype for parameter in judge.model.network.parameters()} == {torch.bfloat16}
    pairs = [tiny_t5.fact("Ada", "Rome", city) for city in tiny_t5.CITIES]
    exact = [judgment.p for judgment in loaded["trained"].judge(pairs)]
    assert [judgment.p for judgment in judge.judge(pairs)] == pytest.approx(exact, abs=0.1)


def test_emulated_bf16_is_said(
    checkpoints: dict[str, Path], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("scorer.judges.placement.cpu_has_bf16", lambda: False)
    judges.load(f"t5:{checkpoints['gated']}?dtype=bf16")
    assert "emulated" in caplog.text


def test_another_architecture_is_refused(tmp_path: Path) -> None:
    network = transformers.BertForSequenceClassification(
        transformers.BertConfig(
            vocab_size=50, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8
        )
    )
    network.save_pretrained(tmp_path)
    with pytest.raises(InvalidInput, match="not a T5 one"):
        judges.load(f"t5:{tmp_path}")
