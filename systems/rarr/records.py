"""What travels through research and revision, and the record of it that a page can show step by step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from core.editing import Snippet
from systems.prompts.template import Template
from systems.records import Completion


@dataclass(frozen=True, slots=True)
class Document:
    """A page or passage that a search found; `source` is its corpus id or address."""

    source: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """A window of a document, found for a query; `score` compares within one relevance model."""

    query: str
    text: str
    source: str
    title: str
    score: float

    @property
    def shown(self) -> str:
        """As prompts show it: with the title, unless the text names it."""
        return self.text if not self.title or self.title.lower() in self.text.lower() else f"{self.title}: {self.text}"

    @property
    def snippet(self) -> Snippet:
        """As it stands in a report."""
        return Snippet(self.text, self.source, self.query)

    def told(self) -> dict[str, Any]:
        """As it stands in a trace."""
        return {"text": self.text, "source": self.source, "title": self.title, "score": round(self.score, 6)}


@dataclass
class Log:
    """All steps of one item, each with its input and output; flags say why a text stayed or a step gave nothing."""

    steps: list[dict[str, Any]] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    templates: dict[str, str] = field(default_factory=dict)
    prompt_tokens: int = 0
    new_tokens: int = 0
    cost: float | None = None

    def add(self, step: str, **told: Any) -> dict[str, Any]:
        """Put one more step down; what is None is left out."""
        self.steps.append({"step": step} | {name: value for name, value in told.items() if value is not None})
        return self.steps[-1]

    def flag(self, reason: str) -> None:
        """Put a reason down once, for the counts of the run."""
        if reason not in self.flags:
            self.flags.append(reason)

    def asked(self, template: Template, prompt: str, completion: Completion) -> dict[str, Any]:
        """A prompt (without its template's examples) and what came back; tokens and cost are counted."""
        self.templates[template.key] = template.digest
        self.prompt_tokens += completion.prompt_tokens
        self.new_tokens += completion.new_tokens
        if completion.cost is not None:
            self.cost = (self.cost or 0.0) + completion.cost
        return {"template": template.key, "prompt": prompt, "raw": completion.text, "finish": completion.finish}

    def trace(self) -> dict[str, Any]:
        """The whole as JSON."""
        usage = {"prompt_tokens": self.prompt_tokens, "new_tokens": self.new_tokens, "cost": self.cost}
        told: dict[str, Any] = {"steps": self.steps, "templates": self.templates, "usage": usage}
        return told | ({"flags": self.flags} if self.flags else {})
