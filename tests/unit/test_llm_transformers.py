"""Local models against a plain loop: batches, padding, stop strings, counts, seeds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from core.errors import InvalidInput, NotFound, Refused  # noqa: E402
from systems import llm  # noqa: E402
from systems.llm.transformers import TransformersModel, load  # noqa: E402
from tests.tiny_causal import WINDOW, random_causal  # noqa: E402
from tests.tiny_t5 import random_t5  # noqa: E402

PROMPTS = ["a long question about the river Danube, which is long\nA:", "Q", "who wrote it?\nA:", "x" * 90, "where"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return random_causal(tmp_path_factory.mktemp("causal"), seed=5)


@pytest.fixture(scope="module")
def model(folder: Path) -> TransformersModel:
    return load(str(folder), device="cpu", batch=2)


def plain(model: TransformersModel, prompt: str, steps: int) -> list[int]:
    """Greedy, one prompt, nothing padded, nothing cached."""
    ids = model.tokenizer(prompt)["input_ids"]
    written: list[int] = []
    with torch.inference_mode():
        for _ in range(steps):
            logits = model.model(input_ids=torch.tensor([ids + written]), use_cache=False).logits
            written.append(int(logits[0, -1].argmax()))
            if written[-1] == model.tokenizer.eos_token_id:
                break
    return written


@pytest.mark.parametrize("batch", [1, 2, 5])
def test_texts_equal_a_plain_greedy_loop_whatever_the_batch(folder: Path, batch: int):
    model = load(str(folder), device="cpu", batch=batch)
    expected = [plain(model, prompt, 12) for prompt in PROMPTS]
    told = model.generate(PROMPTS, max_new_tokens=12)
    assert [each.text for each in told] == [model.tokenizer.decode(each, skip_special_tokens=True) for each in expected]
    assert [each.new_tokens for each in told] == [len(each) for each in expected]
    assert [each.prompt_tokens for each in told] == [len(prompt) for prompt in PROMPTS]
    assert len({each.text for each in told}) > 1


def test_a_text_ends_before_its_first_stop_string_and_counts_what_was_written(model: TransformersModel):
    stopped = 0
    for prompt, before in zip(PROMPTS, model.generate(PROMPTS, max_new_tokens=12), strict=True):
        at = next((at for at in range(3, len(before.text) - 1) if before.text[at : at + 2].isascii()), None)
        if at is None:
            continue
        mark = before.text[at : at + 2]
        told = model.generate([prompt, *PROMPTS], max_new_tokens=12, stop=["<never>", mark])[0]
        until = before.text[: before.text.index(mark) + 2]
        assert told.text + mark == until
        assert told.finish == "stop"
        assert len(until) <= told.new_tokens <= len(until.encode()), "a token is a byte here"
        stopped += 1
    assert stopped >= 2


def test_the_end_of_a_text_is_told(model: TransformersModel):
    assert {each.finish for each in model.generate(PROMPTS, max_new_tokens=1)} <= {"stop", "length"}
    assert all(each.new_tokens == 1 for each in model.generate(PROMPTS, max_new_tokens=1))
    assert model.generate([], max_new_tokens=4) == []


def test_habits_of_a_checkpoint_do_not_count(folder: Path, tmp_path: Path):
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    own = json.loads((folder / "generation_config.json").read_text())
    habits = {"do_sample": True, "temperature": 2.0, "repetition_penalty": 1.8, "max_length": 20}
    (tmp_path / "generation_config.json").write_text(json.dumps(own | habits))
    plainly, odd = (load(str(each), device="cpu") for each in (folder, tmp_path))
    assert odd.model.generation_config.repetition_penalty in (None, 1.0)
    texts = [[c.text for c in each.generate(PROMPTS, max_new_tokens=20)] for each in (plainly, odd)]
    assert texts[0] == texts[1]


def test_sampling_is_seeded(folder: Path):
    def texts(seed: int) -> list[str]:
        drawn = load(str(folder), device="cpu", seed=seed, temperature=1.0)
        return [each.text for each in drawn.generate(PROMPTS, max_new_tokens=8)]

    assert texts(1) == texts(1)
    assert texts(1) != texts(2)


def test_a_prompt_that_does_not_fit_is_refused_before_anything_runs(model: TransformersModel):
    assert model.generate(["y" * (WINDOW - 2)], max_new_tokens=2)[0].prompt_tokens == WINDOW - 2
    with pytest.raises(InvalidInput, match=f"window of {WINDOW}"):
        model.generate(["fits", "y" * (WINDOW - 1)], max_new_tokens=2)
    with pytest.raises(InvalidInput, match="empty"):
        model.generate([""], max_new_tokens=2)


def test_encoder_decoder_models_complete_too(tmp_path: Path):
    model = load(str(random_t5(tmp_path, seed=2)), device="cpu", batch=3)
    told = model.generate(["where does Ada live", "Rosa", "the answer to the question is"], max_new_tokens=5)
    alone = [model.generate([p], max_new_tokens=5)[0] for p in ("where does Ada live", "Rosa")]
    assert told[:2] == alone
    assert all(each.new_tokens <= 5 for each in told)


def test_what_is_loaded_is_named(folder: Path, tmp_path: Path):
    assert llm.load(str(folder)).signature.startswith("transformers:local@")
    assert "temperature=0|seed=0|batch=16" in llm.load(f"transformers:{folder}").signature
    with pytest.raises(NotFound, match="no folder"):
        llm.load(str(tmp_path / "nothing"))
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(Refused, match="safetensors"):
        llm.load(str(tmp_path))
    with pytest.raises(InvalidInput, match="names no language model"):
        llm.load("gpt")
    with pytest.raises(InvalidInput, match="float16"):
        load(str(random_t5(tmp_path / "t5")), dtype="float16")
