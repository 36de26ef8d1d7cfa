"""What travels inside a system, and the Protocols its parts are written against."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from core.editing import Revision
from core.records import Passage, Question


@dataclass(frozen=True, slots=True)
class Retrieved:
    """One hit of a search; scores compare within one search only."""

    passage: Passage
    score: float


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model wrote after one prompt; `finish` is `stop` or `length`, `cost` in the endpoint's currency."""

    text: str
    prompt_tokens: int
    new_tokens: int
    finish: str
    cost: float | None = None

    @property
    def usage(self) -> dict[str, Any]:
        """As it stands in a trace."""
        return {"prompt_tokens": self.prompt_tokens, "new_tokens": self.new_tokens, "cost": self.cost}


@dataclass(frozen=True, slots=True)
class Reading:
    """An answer, the index of the passage it rests on (None: the reader names none), and what led to it.

    `trace["usage"]`, where present, holds `prompt_tokens`, `new_tokens` and `cost`; budgets are counted from it.
    """

    answer: str
    best: int | None = None
    trace: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Output:
    """A system's word on one question: `passage_id` is None where it found no passage.

    `trace` is JSON: retrieved ids and scores, prompts, raw outputs, flags; `trace["usage"]` as in `Reading`.
    """

    position: int
    answer: str
    passage_id: str | None
    trace: dict[str, Any] = field(default_factory=dict)

    @property
    def fields(self) -> dict[str, Any]:
        """As it is kept: the answer and its passage."""
        return {"answer": self.answer, "passage_id": self.passage_id}


@dataclass(frozen=True, slots=True)
class Revised:
    """An editing system's word on one passage; `trace` as an `Output`'s."""

    revision: Revision
    trace: dict[str, Any] = field(default_factory=dict)

    @property
    def position(self) -> int:
        """The passage's."""
        return self.revision.position

    @property
    def fields(self) -> dict[str, Any]:
        """As it is kept: the revised text and the report."""
        return {"text": self.revision.text, "report": [asdict(each) for each in self.revision.report]}


class Retriever(Protocol):
    """Finds passages of one corpus."""

    @property
    def signature(self) -> str:
        """Everything its results depend on."""
        ...

    def search(self, queries: Sequence[str], k: int) -> list[list[Retrieved]]:
        """At most k hits per query, best first; no hit is an empty list, never arbitrary passages."""
        ...

    def flags(self, query: str) -> tuple[str, ...]:
        """Remarks on how a query was treated, such as a cut; empty for most."""
        ...


class Reranker(Protocol):
    """Orders hits anew."""

    @property
    def signature(self) -> str:
        """Everything its results depend on."""
        ...

    def rerank(self, queries: Sequence[str], hits: Sequence[Sequence[Retrieved]]) -> list[list[Retrieved]]:
        """The same hits with new scores, best first; ties keep their order."""
        ...


class LLM(Protocol):
    """Completes prompts; deterministic unless told otherwise."""

    name: str

    @property
    def batch(self) -> int:
        """Prompts that it works on at a time."""
        ...

    @property
    def signature(self) -> str:
        """Everything its text depends on."""
        ...

    def generate(self, prompts: Sequence[str], *, max_new_tokens: int, stop: Sequence[str] = ()) -> list[Completion]:
        """One completion per prompt, in their order; text ends before the first of `stop`."""
        ...

    def drawing(self, temperature: float, seed: int) -> LLM:
        """The same model, whose tokens are drawn with that temperature and seed; 0 takes the likeliest."""
        ...


class Reader(Protocol):
    """Answers a question from passages."""

    @property
    def signature(self) -> str:
        """Everything its answers depend on."""
        ...

    def read(self, question: str, passages: Sequence[Passage]) -> Reading:
        """The answer from one set of passages; with no passage, an empty answer."""
        ...

    def read_all(self, questions: Sequence[str], passages: Sequence[Sequence[Passage]]) -> list[Reading]:
        """As `read`, in batches; readings in the order of `questions`."""
        ...


class Answerer(Protocol):
    """Answers questions closed-book: without looking at any passage."""

    @property
    def signature(self) -> str:
        """Everything its answers depend on."""
        ...

    def answer_all(self, questions: Sequence[Question]) -> list[Reading]:
        """One reading per question, `best` None."""
        ...


class System(Protocol):
    """A whole attributed question answering system."""

    key: str
    architecture: str

    @property
    def batch(self) -> int:
        """How many questions it answers together; 1 where each stands alone."""
        ...

    @property
    def signature(self) -> str:
        """Its configuration and its parts' signatures."""
        ...

    def answer(self, questions: Sequence[Question]) -> Iterator[Output | Revised]:
        """Outputs in the order of `questions`, each given out as soon as its batch is done."""
        ...
