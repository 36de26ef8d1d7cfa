"""A language model, a reader and a judge that do what a test says; they stand where real ones would."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.records import Judgment, Pair, Passage
from systems.records import Completion, Reading


class ScriptedLLM:
    """Answers by a rule on the last question of a prompt; keeps the prompts."""

    name, batch = "scripted", 16
    signature = "llm:scripted"

    def __init__(self, rule: Callable[[str], str]) -> None:
        self.rule = rule
        self.prompts: list[str] = []

    def generate(self, prompts: Sequence[str], *, max_new_tokens: int, stop: Sequence[str] = ()) -> list[Completion]:
        """One completion per prompt, ten tokens read and two written."""
        self.prompts += prompts
        return [Completion(" " + self.rule(_question(prompt)), 10, 2, "stop") for prompt in prompts]


class LastWordReader:
    """Answers with the last word of the first passage, without its full stop; names the passage if told to."""

    signature = "reader:last-word"

    def __init__(self, best: int | None = None) -> None:
        self.best = best
        self.read_sets: list[list[str]] = []

    def read(self, question: str, passages: Sequence[Passage]) -> Reading:
        """The last word; nothing from no passage."""
        self.read_sets.append([passage.id for passage in passages])
        answer = passages[0].text.rstrip(".").split()[-1] if passages else ""
        return Reading(answer, self.best, {"usage": {"prompt_tokens": 7, "new_tokens": 1, "cost": 0.5}})

    def read_all(self, questions: Sequence[str], passages: Sequence[Sequence[Passage]]) -> list[Reading]:
        """One by one."""
        return [self.read(*each) for each in zip(questions, passages, strict=True)]


class TitleJudge:
    """p is high where the passage has the title it favours; counts the pairs it saw."""

    key, title, help, score_name, signature = "title", "Title", "For tests.", "Title", "judge:title@1"

    def __init__(self, favours: str) -> None:
        self.favours = favours
        self.seen: list[Pair] = []

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment]:
        """0.9 for the favoured title, else 0.2."""
        self.seen += pairs
        return [Judgment(0.9 if p.passage and p.passage.title == self.favours else 0.2, "1") for p in pairs]


def _question(prompt: str) -> str:
    """What stands after the last `Q:` or `Question:` of a prompt."""
    lines = [line for line in prompt.splitlines() if ":" in line and line.split(":")[0].strip() in ("Q", "Question")]
    return lines[-1].partition(":")[2].strip()
