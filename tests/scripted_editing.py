"""A world for RARR in which a scripted model answers by the step that a prompt is of, over a corpus of three pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from core.errors import AqaError
from core.records import Question
from systems.llm.stopping import cut
from systems.rarr.calls import together
from systems.rarr.editors import Edited, Editor
from systems.rarr.records import Document
from systems.rarr.relevance import SharedWords
from systems.rarr.research import Asker, Researcher
from systems.rarr.revision import Reviser
from systems.records import Completion
from systems.retrieval.analysis import Analyzer

PAGES = (
    Document("wiki/Danube#0", "Danube", "The Danube begins in the Black Forest. It empties into the Black Sea."),
    Document("wiki/Oslo#0", "Oslo", "Oslo is the capital of Norway. It was once named Christiania."),
    Document("wiki/Nile#0", "Nile", "The Nile flows north for 6,650 km through Egypt."),
)
STEPS = {"\nQuestions:\n": "questions", "Searches:\n": "searches", "Wrong part:": "edit", " says:": "agreement"}


def step_of(prompt: str) -> str:
    """The step that a prompt is of, by its last lines."""
    tail = prompt[-40:]
    return next((name for mark, name in STEPS.items() if mark in tail), "rewrite")


def asked(prompt: str, label: str) -> str:
    """What stands after the last `label` of a prompt, to the end of its line."""
    return prompt.rpartition(f"{label}: ")[2].split("\n")[0]


@dataclass
class StepLLM:
    """A model of one reply a step: a text, an error, or what a function says of the prompt."""

    replies: dict[str, str | AqaError | Callable[[str], str]]
    seen: list[str] = field(default_factory=list)
    batches: list[int] = field(default_factory=list)
    name: str = "scripted"
    batch: int = 16
    round: int = 0

    @property
    def signature(self) -> str:
        return f"scripted:{self.round}"

    def drawing(self, temperature: float, seed: int) -> StepLLM:
        """The same script; rounds are told apart by their seed."""
        return StepLLM(self.replies, self.seen, self.batches, round=seed)

    def generate(self, prompts: Sequence[str], *, max_new_tokens: int, stop: Sequence[str] = ()) -> list[Completion]:
        """One completion per prompt; a step whose reply is an error fails the whole batch, as backends do."""
        self.batches.append(len(prompts))
        told = []
        for prompt in prompts:
            self.seen.append(prompt)
            reply = self.replies[step_of(prompt)]
            if isinstance(reply, AqaError):
                raise reply
            text, stopped = cut(reply if isinstance(reply, str) else reply(prompt), stop)
            told.append(Completion(text, 10, len(text.split()), "stop" if stopped else "length", 0.5))
        return told


@dataclass
class PageSearch:
    """Finds the pages whose title stands in the query."""

    pages: Sequence[Document] = PAGES
    signature: str = "pages"

    def search(self, queries: Sequence[str]) -> list[list[Document]]:
        """Pages in their order."""
        return [[page for page in self.pages if page.title.lower() in query.lower()] for query in queries]


def rarr(llm: StepLLM, search: PageSearch | None = None, **numbers: int) -> Editor:
    """RARR with one round of questions, shared words as relevance."""
    asker = Asker(llm, numbers.pop("rounds", 1))
    researcher = Researcher(asker, search or PageSearch(), SharedWords(Analyzer()), **numbers)
    return Editor(researcher, Reviser(llm))


def edited(editor: Editor, text: str, *context: str) -> Edited:
    """What becomes of one passage."""
    return together([editor.edit(Question(0, "x", text, (), context=context))])[0]
