"""Fine-tuning for an answer and a URL, by overfitting tiny random models of both kinds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from core.errors import InvalidInput  # noqa: E402
from systems import llm, prompts  # noqa: E402
from systems.training.loop import IGNORED, Training, read_rows  # noqa: E402
from systems.training.script import run  # noqa: E402
from systems.training.train_url_generator import Collator, Example, train  # noqa: E402
from tests import tiny_causal  # noqa: E402
from tests.tiny_t5 import random_t5  # noqa: E402

FACTS = [("who", "Ada", "/wiki/Ada"), ("where", "Rome", "/wiki/R")]


def data(path: Path) -> Path:
    rows = [{"question": q, "answers": [a], "url": f"https://en.wikipedia.org{u}"} for q, a, u in FACTS]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_the_loss_of_a_causal_model_is_over_the_target_alone():
    words = tiny_causal.tokenizer()
    batch = Collator(words, causal=True)([Example("Q: who\nA:", " Ada"), Example("Q: x\nA:", " B")])
    first, second = batch["labels"].tolist()
    assert words.decode([token for token in first if token != IGNORED]) == " Ada<|end|>"
    assert first.index(next(token for token in first if token != IGNORED)) == len("Q: who\nA:")
    assert batch["attention_mask"][1].tolist() == [1] * len("Q: x\nA: B") + [1] + [0] * 4
    assert second[-4:] == [IGNORED] * 4, "padding is no target"
    assert words.decode(batch["input_ids"][0]) == "Q: who\nA: Ada<|end|>"


@pytest.mark.parametrize("kind", ["causal", "encoder-decoder"])
def test_a_trained_model_writes_what_the_prompt_asks_for(tmp_path: Path, kind: str):
    make = tiny_causal.random_causal if kind == "causal" else random_t5
    start, out = make(tmp_path / "start", seed=1), tmp_path / "out"
    rate = 1e-2 if kind == "causal" else 5e-3
    options = Training(
        data(tmp_path / "train.jsonl"), out, str(start), steps=60, batch=2, accumulate=1, rate=rate, warmup=5
    )
    train(options)
    told = json.loads((out / "training.json").read_text())
    prompt = prompts.load("answer-url@1")
    assert told["prompt"] == prompt.signature
    assert len(told["data_sha256"]) == 64
    model = llm.load(str(out), device="cpu")
    asked = [prompt.render(question, []) for question, _, _ in FACTS]
    written = model.generate(asked, max_new_tokens=60, stop=prompt.stop)
    expected = [(answer, f"https://en.wikipedia.org{url}") for _, answer, url in FACTS]
    assert [prompts.read_answer_and_url(each.text) for each in written] == expected
    assert {each.finish for each in written} == {"stop"}


def test_an_example_without_an_address_is_named(tmp_path: Path):
    path = tmp_path / "train.jsonl"
    path.write_text(json.dumps({"question": "q", "answers": ["a"]}) + "\n")
    with pytest.raises(InvalidInput, match="line 1"):
        train(Training(path, tmp_path / "out", str(tiny_causal.random_causal(tmp_path / "start")), steps=1))


def test_a_script_tells_its_errors_without_a_traceback(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def main() -> None:
        read_rows(tmp_path / "nothing.jsonl", lambda entry: entry)

    with pytest.raises(SystemExit) as caught:
        run(main)
    assert caught.value.code == 2
    assert capsys.readouterr().err == f"Error: There is no file {tmp_path / 'nothing.jsonl'}.\nHint:  Check the path.\n"
