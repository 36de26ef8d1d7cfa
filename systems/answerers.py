"""Closed-book answers: from a few-shot prompted model, with or without a page's address, or from a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import orjson

from core.errors import InvalidInput
from core.records import Question
from core.text import canonical_question, hash_key
from systems import prompts
from systems.exemplars import Chooser
from systems.llm.asking import ask, trace
from systems.prompts import Exemplar, Prompt
from systems.records import LLM, Completion, Reading


@dataclass(frozen=True)
class FewShot:
    """Shows exemplars, then the question. With `address_of`, each exemplar shows its page and the model writes one."""

    llm: LLM
    chooser: Chooser
    max_new_tokens: int
    address_of: Callable[[Sequence[Exemplar]], list[str]] | None = None

    @property
    def batch(self) -> int:
        """Questions given at once: two rounds of the model's, so that few calls wait for a long one."""
        return 2 * self.llm.batch

    @property
    def signature(self) -> str:
        """Model, exemplars, prompt and its length."""
        prompt = f"{self._prompt.signature}|max_new_tokens={self.max_new_tokens}"
        return f"{self.llm.signature}|{self.chooser.signature}|{prompt}"

    @property
    def _prompt(self) -> Prompt:
        return prompts.load("closed-book@1" if self.address_of is None else "answer-url@1")

    def answer_all(self, questions: Sequence[Question]) -> list[Reading]:
        """One reading per question; its trace keeps prompt, raw text and usage."""
        chosen = self.chooser.choose(questions)
        if self.address_of is not None:
            chosen = self._addressed(chosen, self.address_of)
        prompt = self._prompt
        asked = [prompt.render(question.text, each) for each, question in zip(chosen, questions, strict=True)]
        told = ask(self.llm, asked, max_new_tokens=self.max_new_tokens, stop=prompt.stop)
        return [self._reading(*each) for each in zip(asked, told, strict=True)]

    def _addressed(
        self, chosen: list[list[Exemplar]], address_of: Callable[[Sequence[Exemplar]], list[str]]
    ) -> list[list[Exemplar]]:
        unique = list(dict.fromkeys(each for some in chosen for each in some if not each.url))
        addressed = dict(zip(unique, address_of(unique), strict=True)) if unique else {}
        shown = [[replace(each, url=each.url or addressed[each]) for each in some] for some in chosen]
        return [[each for each in some if each.url] for some in shown]

    def _reading(self, prompt: str, completion: Completion) -> Reading:
        if self.address_of is None:
            return Reading(prompts.read_answer(completion.text), None, trace(prompt, completion))
        answer, url = prompts.read_answer_and_url(completion.text)
        return Reading(answer, None, trace(prompt, completion) | {"url": url})


@dataclass(frozen=True)
class FromFile:
    """Answers that are there already: JSONL of `question` (or `id`) and `answer` (or `prediction`)."""

    name: str
    data: bytes = field(repr=False)

    @property
    def signature(self) -> str:
        """The file's content."""
        return f"answers:{hash_key(*self._answers, *self._answers.values()).hex()}"

    def answer_all(self, questions: Sequence[Question]) -> list[Reading]:
        """The file's answer, joined by id or question; empty where it holds none."""
        found = [self._answers.get(q.id, self._answers.get(canonical_question(q.text))) for q in questions]
        missing = {"flags": ["not in the file"]}
        return [Reading(answer or "", None, dict(missing) if answer is None else {}) for answer in found]

    @cached_property
    def _answers(self) -> dict[str, str]:
        held: dict[str, str] = {}
        for number, line in enumerate(self.data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
            if line.strip():
                question, answer = _entry(line, number, self.name)
                if held.setdefault(question, answer) != answer:
                    raise InvalidInput(
                        f"{self.name}, line {number}: another answer to {question[:80]!r}.",
                        "Give one answer a question.",
                    )
        return held

    def check(self) -> None:
        """Raises `InvalidInput` for a file that is not as it should be, or holds nothing."""
        if not self._answers:
            raise InvalidInput(f"{self.name} holds no answers.", "Give JSONL, one answer a line.")


def _entry(line: bytes, number: int, name: str) -> tuple[str, str]:
    try:
        entry = orjson.loads(line)
        answer = entry["answer"] if "answer" in entry else entry["prediction"]
        key = entry["id"] if "id" in entry and "question" not in entry else canonical_question(entry["question"])
        if not isinstance(answer, str):
            raise TypeError
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
        raise InvalidInput(
            f"{name}, line {number}: not an object with question and answer.", "Give JSONL, one answer a line."
        ) from None
    return key, answer
