"""A language model that says what a test tells it to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from systems.llm.stopping import cut
from systems.records import Completion


@dataclass
class ScriptedLLM:
    """`script` turns a prompt into a text; all prompts are kept in `seen`."""

    script: Callable[[str], str]
    name: str = "scripted"
    batch: int = 16
    seen: list[str] = field(default_factory=list)

    @property
    def signature(self) -> str:
        return "scripted"

    def drawing(self, temperature: float, seed: int) -> ScriptedLLM:
        """Itself: a script draws nothing."""
        return self

    def generate(self, prompts: Sequence[str], *, max_new_tokens: int, stop: Sequence[str] = ()) -> list[Completion]:
        self.seen += prompts
        told = []
        for prompt in prompts:
            words = self.script(prompt)
            text, stopped = cut(words, stop)
            told.append(Completion(text, len(prompt.split()), len(text.split()), "stop" if stopped else "length", 0.5))
        return told
