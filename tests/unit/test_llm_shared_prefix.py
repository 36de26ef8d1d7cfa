"""What a batch begins with alike is read once, and draws do not depend on the batch: texts stay the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from systems.llm import shared_prefix
from systems.llm.shared_prefix import WORTH, padded, shared
from tests.tiny_causal import random_causal

torch = pytest.importorskip("torch")
HEAD = "Say what each text says, and then whether it is so or not so, in one word.\n\nText: one\nWord: yes\n\nText: "
PROMPTS = [HEAD + each for each in ("two\nWord:", "three and more\nWord:", "a\nWord:", "two of them\nWord:", "x")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return random_causal(tmp_path_factory.mktemp("causal"))


def model(folder: Path, **options: Any) -> Any:
    from systems.llm import transformers

    return transformers.load(str(folder), device="cpu", **options)


def texts(llm: Any, prompts: list[str]) -> list[str]:
    return [each.text for each in llm.generate(prompts, max_new_tokens=12)]


@pytest.mark.parametrize(
    ("rows", "count"),
    [
        ([[1] * 50, [1] * 50 + [2]], 49),  # each row keeps a token of its own
        ([[1] * 50 + [2, 2], [1] * 50 + [3]], 50),
        ([[1] * 50 + [2], [1] * 50 + [2], [1] * 40 + [3] * 9], 40),
        ([[1] * 50], 0),
        ([[1] * (WORTH - 1) + [2], [1] * (WORTH - 1) + [3]], 0),
        ([[1] * WORTH + [2], [1] * WORTH + [3]], WORTH),
        ([[1, 2], [3]], 0),
    ],
)
def test_how_much_is_shared(rows: list[list[int]], count: int) -> None:
    assert shared(rows) == count


def test_padding_stands_between_the_shared_and_the_own() -> None:
    batch, mask = padded([[7, 7, 1], [7, 7, 2, 3]], 0, 2)
    assert batch.tolist() == [[7, 7, 0, 1], [7, 7, 2, 3]]
    assert mask.tolist() == [[1, 1, 0, 1], [1, 1, 1, 1]]


@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_texts_are_those_of_each_prompt_alone(
    folder: Path, temperature: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    llm = model(folder).drawing(temperature, 3)
    read: list[int] = []
    real = shared_prefix.read
    monkeypatch.setattr(shared_prefix, "read", lambda m, ids, rows: read.append(len(ids)) or real(m, ids, rows))
    together = texts(llm, PROMPTS)
    assert read == [len(HEAD)]
    assert together == [texts(llm, [prompt])[0] for prompt in PROMPTS]
    assert together == texts(llm, PROMPTS[::-1])[::-1]
    assert len(set(together)) > 1


def test_draws_depend_on_seed_and_prompt_and_follow_the_probabilities(folder: Path) -> None:
    llm = model(folder)
    assert texts(llm.drawing(1.0, 1), PROMPTS) == texts(llm.drawing(1.0, 1), PROMPTS)
    assert texts(llm.drawing(1.0, 1), PROMPTS) != texts(llm.drawing(1.0, 2), PROMPTS)
    assert llm.drawing(1.0, 2).signature != llm.signature != llm.drawing(0.0, 2).signature


def test_gumbel_noise_draws_from_the_softmax() -> None:
    from systems.llm.drawing import drawing_of

    logits = torch.log(torch.tensor([[0.5, 0.3, 0.2]]))
    draw = drawing_of([[1, 2]], 0.5, 0)
    counts = torch.zeros(3)
    for _ in range(4_000):
        counts[draw(None, logits).argmax()] += 1
    sharpened = torch.tensor([0.25, 0.09, 0.04]) / 0.38
    assert torch.allclose(counts / counts.sum(), sharpened, atol=0.03)
