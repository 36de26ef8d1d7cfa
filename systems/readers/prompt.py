"""Any language model as the reader, by a few-shot prompt that shows the passages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.records import Passage
from systems import prompts
from systems.llm.asking import ask, trace
from systems.prompts import Prompt
from systems.records import LLM, Completion, Reading

MAX_NEW_TOKENS = 32


@dataclass(frozen=True)
class PromptReader:
    """Shows passages and the question after solved ones; with `citing`, the model names its passage by number."""

    llm: LLM
    prompt: Prompt
    citing: bool = False
    max_new_tokens: int = MAX_NEW_TOKENS

    @property
    def batch(self) -> int:
        """Questions given at once: two rounds of the model's, so that few calls wait for a long one."""
        return 2 * self.llm.batch

    @property
    def signature(self) -> str:
        """Model, prompt and its length."""
        return f"{self.llm.signature}|{self.prompt.signature}|max_new_tokens={self.max_new_tokens}"

    def read(self, question: str, passages: Sequence[Passage]) -> Reading:
        """The answer from one set of passages; with no passage, an empty answer and no call of the model."""
        return self.read_all([question], [passages])[0]

    def read_all(self, questions: Sequence[str], passages: Sequence[Sequence[Passage]]) -> list[Reading]:
        """One reading per question; its trace keeps prompt, raw text and usage."""
        readable = [at for at, each in enumerate(passages) if each]
        asked = [self.prompt.render(questions[at], passages=passages[at]) for at in readable]
        told = ask(self.llm, asked, max_new_tokens=self.max_new_tokens, stop=self.prompt.stop) if asked else []
        readings = [Reading("") for _ in questions]
        for at, prompt, completion in zip(readable, asked, told, strict=True):
            readings[at] = self._reading(prompt, completion, len(passages[at]))
        return readings

    def _reading(self, prompt: str, completion: Completion, shown: int) -> Reading:
        kept = trace(prompt, completion)
        if self.citing:
            return Reading(*prompts.read_cited_answer(completion.text, shown), kept)
        return Reading(prompts.read_answer(completion.text), None, kept)


def load(model: str, *, seed: int = 0) -> PromptReader:
    """The reader that names no passage, on the language model that a spec names."""
    from systems import llm

    return PromptReader(llm.load(model, seed=seed), prompts.load("read-passage@1"))


def load_citing(model: str, *, seed: int = 0) -> PromptReader:
    """The reader that names the passage its answer rests on, on the language model that a spec names."""
    from systems import llm

    return PromptReader(llm.load(model, seed=seed), prompts.load("cite-passage@1"), citing=True)
