"""A system's configuration: what a YAML file of the catalog holds, checked, with the origin of every choice."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields, replace
from typing import Any

import orjson

from core.architectures import ARCHITECTURES
from core.editing import LARGEST_REPORT
from core.errors import InvalidInput
from core.text import hash_key
from systems.readers import REGISTRY as READERS

CHOICES: dict[str, tuple[str, ...]] = {
    "retriever": ("bm25", "dense"),
    "query": ("question", "question+answer"),
    "reader": tuple(READERS),
    "exemplars": ("NQ-64", "NQ-full", "own"),
    "editor": ("rarr", "efec", "lamda", "none"),
    "relevance": ("shared-words", "dense", "cross-encoder"),
}
"""Component → the values that it takes, where those are few."""
TOLD = frozenset({"T", "attribution", "query", "retriever", "answerer", "P", "A"})
"""Components that a file may tell of a system whose architecture leaves no choice of them, or cannot: T is how its
reader was trained, `attribution` is in words."""
_CHOOSING = frozenset({"k", "P", "A", "reader", "reranker"})
"""Components after whose change the sentence in `attribution` need not be true."""
_PASSAGES = frozenset({"k", "P", "A"})
_ZERO_COUNTS = frozenset({"k1", "b", "temperature", "largest_share"})
ABOUT = frozenset(
    {"name", "title", "architecture", "supervision", "uses_autoais", "source", "notes", "stated", "inferred"}
)


@dataclass(frozen=True)
class SystemConfig:
    """One system. Every component field that is set stands in `stated` (the paper's text says so) or in `inferred`
    (field → why we chose so). A component that begins with `?` names what nobody can download: it must be handed in.
    """

    name: str
    title: str
    architecture: str
    supervision: str = ""
    uses_autoais: bool = False
    source: str = ""
    notes: str = ""
    stated: tuple[str, ...] = ()
    inferred: Mapping[str, str] | None = None
    retriever: str = ""
    """`bm25` or `dense`."""
    k1: float | None = None
    b: float | None = None
    encoder: str = ""
    """For `dense`: `minilm`, `owner/name@revision` or a folder."""
    query: str = ""
    """`question` or `question+answer`."""
    k: int = 0
    reranker: str = ""
    """A cross-encoder: `owner/name@revision` or a folder; `judge` for the judge handed in."""
    reader: str = ""
    """`prompt`, `cite` or `fid`."""
    answerer: str = ""
    """`few-shot`, or `answers:FILE` for answers that are there already; a run keeps `answers:NAME@DIGEST` of it."""
    model: str = ""
    """The reader's or the answerer's model."""
    exemplars: str = ""
    """`NQ-64` (fixed, random), `NQ-full` (the most similar to the question) or `own` (those of the prompt)."""
    shots: int = 0
    max_new_tokens: int = 0
    T: int = 0
    P: int = 0
    A: int = 0
    attribution: str = ""
    """In words: how the passage is chosen."""
    editor: str = ""
    """Of research-and-revise: `rarr`, `efec`, `lamda`, or `none` for evidence without editing."""
    corrector: str = ""
    """For `efec`: a T5 checkpoint, `owner/name@revision` or a folder."""
    search: str = ""
    """In place of the corpus: a search service, `http://HOST/search?q={query}&format=json`."""
    relevance: str = ""
    """How evidence is scored: `shared-words`, `dense` (by `encoder`) or `cross-encoder` (by `reranker`)."""
    rounds: int = 0
    """Of question generation."""
    temperature: float | None = None
    """With which questions are drawn."""
    J: int = 0
    """Pieces of evidence for each question."""
    M: int = 0
    """Snippets in a report, at most."""
    window: int = 0
    """Sentences in a piece of evidence."""
    largest_edit: int = 0
    """Characters that one edit may change."""
    largest_share: float | None = None
    """The share of the original's length that one edit may change."""

    @property
    def digest(self) -> str:
        """A short hash of everything that outputs depend on."""
        return hash_key(orjson.dumps(self.components(), option=orjson.OPT_SORT_KEYS).decode()).hex()

    def components(self) -> dict[str, Any]:
        """The component fields that are set."""
        return {name: value for name, value in asdict(self).items() if name not in ABOUT and _is_set(name, value)}

    def lacks(self) -> dict[str, str]:
        """The components that must be handed in before it can run: field → what the paper used."""
        return {n: value[1:] for n, value in self.components().items() if isinstance(value, str) and value[:1] == "?"}

    def mark(self, field: str) -> str:
        """`stated` or `inferred`."""
        return "stated" if field in self.stated else "inferred"

    def changed(self, changes: Mapping[str, str]) -> SystemConfig:
        """With other components, marked as inferred. Raises `InvalidInput` for an unknown field or a wrong value.

        Whether the architecture reads them is for `catalog.configured` to say.
        """
        kinds = {f.name: type(f.default) for f in fields(self) if f.name not in ABOUT}
        values: dict[str, Any] = {}
        for name, text in changes.items():
            if name not in kinds:
                raise InvalidInput(f"A system has no component {name!r}.", f"Components: {', '.join(sorted(kinds))}.")
            values[name] = _parse(name, text, kinds[name])
            if name in _PASSAGES and values[name] < 1:
                raise InvalidInput(f"{name}={text} leaves no passage.", "Set it to 1 or more.")
        dropped = {"attribution"} if _CHOOSING & set(values) and self.attribution else set()
        why = {name: reason for name, reason in (self.inferred or {}).items() if name not in dropped}
        why |= dict.fromkeys(values, "set for this run")
        stated = tuple(name for name in self.stated if name not in values and name not in dropped)
        values |= dict.fromkeys(dropped, "")
        # What is set to nothing, as reranker= or shots=0, is no component any more.
        why = {name: reason for name, reason in why.items() if _is_set(name, values.get(name, True))}
        judged = values.get("reranker", self.reranker) == "judge"
        made = replace(self, **values, stated=stated, inferred=why, uses_autoais=judged)
        _check(made)
        return made


def _is_set(name: str, value: Any) -> bool:
    """False for what a field holds where nothing was chosen; 0 is a choice of k1, b and the like."""
    return value is not None if name in _ZERO_COUNTS else value not in ("", 0, None)


def from_mapping(entry: object, where: str) -> SystemConfig:
    """A configuration from what a YAML file holds. Raises `InvalidInput` naming the file and what is wrong in it."""
    known = {f.name: f for f in fields(SystemConfig)}
    if not isinstance(entry, dict):
        raise InvalidInput(f"{where}: not a mapping of fields to values.", "See docs/systems.md for the fields.")
    unknown = sorted(str(name) for name in entry if name not in known)
    missing = sorted(name for name, f in known.items() if f.default is MISSING and name not in entry)
    if unknown or missing:
        raise InvalidInput(f"{where}: unknown {unknown}, missing {missing}.", "See docs/systems.md for the fields.")
    for name, value in entry.items():
        _check_kind(where, name, value, type(known[name].default))
    values: dict[str, Any] = {n: tuple(value) if isinstance(value, list) else value for n, value in entry.items()}
    config = SystemConfig(**values)
    try:
        _check(config)
    except InvalidInput as error:
        raise InvalidInput(f"{where}: {error.message}", error.hint) from None
    return config


def _check_kind(where: str, name: str, value: object, kind: type[Any]) -> None:
    """YAML reads `yes`, `1e3` and a bare date as no text; what is not of its field's kind is refused."""
    if name == "inferred":
        right = isinstance(value, dict) and all(isinstance(each, str) and each for each in (*value, *value.values()))
        wanted = "a mapping of components to reasons"
    elif name == "stated":
        right = isinstance(value, list) and all(isinstance(each, str) for each in value)
        wanted = "a list of components"
    elif name in _ZERO_COUNTS:
        right, wanted = type(value) in (int, float), "a number"
    else:
        kind = str if kind is type(MISSING) else kind
        right, wanted = type(value) is kind, f"of type {kind.__name__}"
    if not right:
        raise InvalidInput(f"{where}: {name} is {value!r}, not {wanted}.", "See docs/systems.md for the fields.")


def _check(config: SystemConfig) -> None:
    if config.architecture not in ARCHITECTURES:
        raise InvalidInput(f"There is no architecture {config.architecture!r}.", f"One of {', '.join(ARCHITECTURES)}.")
    for name, known in CHOICES.items():
        value = getattr(config, name)
        if value not in ("", *known) and value[:1] != "?":
            raise InvalidInput(f"{name}: there is no {value!r}.", f"One of {', '.join(known)}.")
    if config.answerer not in ("", "few-shot") and not config.answerer.startswith(("answers:", "?")):
        raise InvalidInput(f"answerer: there is no {config.answerer!r}.", "Take few-shot, or answers:FILE.")
    if min(config.k, config.P, config.A, config.T, config.shots, config.max_new_tokens) < 0:
        raise InvalidInput("Numbers of passages, exemplars and tokens are not negative.", "Set them to 1 or more.")
    if max(config.P, config.A) > config.k:
        raise InvalidInput(
            "P and A are at most k: what was not retrieved is neither read nor attributed to.",
            f"Here k = {config.k}, P = {config.P}, A = {config.A}.",
        )
    if not 0 <= (config.k1 or 0) < math.inf or not 0 <= (config.b or 0) <= 1:
        raise InvalidInput(f"k1 = {config.k1}, b = {config.b} are no BM25.", "k1 is 0 or more, b from 0 to 1.")
    _check_revising(config)
    if config.architecture == "retrieve-then-read" and config.query not in ("", "question"):
        raise InvalidInput("Retrieve-then-read searches before there is an answer.", "Set query to question.")
    if config.uses_autoais != (config.reranker == "judge"):
        raise InvalidInput("uses_autoais does not say whether the reranker is a judge.", "Set it to what is so.")
    marks = [*config.stated, *(config.inferred or {})]
    if sorted(marks) != sorted(config.components()):
        raise InvalidInput(
            f"marks {sorted(marks)} are not the components {sorted(config.components())}.",
            "Each component stands once, under stated or inferred.",
        )


def _check_revising(config: SystemConfig) -> None:
    if min(config.rounds, config.J, config.M, config.window, config.largest_edit) < 0 or config.M > LARGEST_REPORT:
        raise InvalidInput(
            f"rounds, J, M, window and largest_edit are 1 or more, and M is at most {LARGEST_REPORT}.",
            "An entry of the editing track shows no more snippets than that.",
        )
    if not 0 <= (config.temperature or 0) < math.inf or not 0 <= (config.largest_share or 0) < math.inf:
        raise InvalidInput("temperature and largest_share are numbers of 0 or more.", "Set them to such.")


def _parse(name: str, text: str, kind: type[Any]) -> Any:
    try:
        return float(text) if kind is type(None) else kind(text)
    except ValueError:
        raise InvalidInput(f"{name}={text!r} is not a number.", "Set it to a number.") from None
