"""A system's configuration: what a YAML file of the catalog holds, checked, with the origin of every choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields, replace
from typing import Any

import orjson

from core.architectures import ARCHITECTURES
from core.errors import InvalidInput
from core.text import hash_key

QUERIES = ("question", "question+answer")
RETRIEVERS = ("bm25", "dense")
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
    """`prompt` or `fid`."""
    answerer: str = ""
    """`few-shot`, or `answers:FILE` for answers that are there already."""
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

    @property
    def digest(self) -> str:
        """A short hash of everything that outputs depend on."""
        return hash_key(orjson.dumps(self.components(), option=orjson.OPT_SORT_KEYS).decode()).hex()

    def components(self) -> dict[str, Any]:
        """The component fields that are set."""
        return {name: value for name, value in asdict(self).items() if name not in ABOUT and value not in ("", 0, None)}

    def lacks(self) -> dict[str, str]:
        """The components that must be handed in before it can run: field → what the paper used."""
        return {n: value[1:] for n, value in self.components().items() if isinstance(value, str) and value[:1] == "?"}

    def mark(self, field: str) -> str:
        """`stated` or `inferred`."""
        return "stated" if field in self.stated else "inferred"

    def changed(self, changes: Mapping[str, str]) -> SystemConfig:
        """With other components, marked as inferred. Raises `InvalidInput` for an unknown field or a wrong value."""
        kinds = {f.name: type(f.default) for f in fields(self) if f.name not in ABOUT}
        values: dict[str, Any] = {}
        for name, text in changes.items():
            if name not in kinds:
                raise InvalidInput(f"A system has no component {name!r}.", f"Components: {', '.join(sorted(kinds))}.")
            values[name] = _parse(name, text, kinds[name])
        why = dict(self.inferred or {}) | dict.fromkeys(values, "set for this run")
        stated = tuple(name for name in self.stated if name not in values)
        made = replace(self, **values, stated=stated, inferred=why)
        _check(made)
        return made


def from_mapping(entry: Mapping[str, Any], where: str) -> SystemConfig:
    """A configuration from a YAML file's mapping. Raises `InvalidInput` naming the file and what is wrong in it."""
    known = {f.name: f for f in fields(SystemConfig)}
    unknown = sorted(set(entry) - set(known))
    missing = sorted(name for name, f in known.items() if f.default is MISSING and name not in entry)
    if unknown or missing:
        raise InvalidInput(f"{where}: unknown {unknown}, missing {missing}.", "See docs/systems.md for the fields.")
    values: dict[str, Any] = {n: tuple(value) if isinstance(value, list) else value for n, value in entry.items()}
    for name, value in values.items():
        kind = type(known[name].default)
        if kind in (str, bool, int, tuple) and type(value) is not kind:
            raise InvalidInput(f"{where}: {name} is {value!r}, not a {kind.__name__}.")
    config = SystemConfig(**values)
    try:
        _check(config)
    except InvalidInput as error:
        raise InvalidInput(f"{where}: {error.message}", error.hint) from None
    return config


def _check(config: SystemConfig) -> None:
    if config.architecture not in ARCHITECTURES:
        raise InvalidInput(f"There is no architecture {config.architecture!r}.", f"One of {', '.join(ARCHITECTURES)}.")
    if config.retriever not in ("", *RETRIEVERS) or config.query not in ("", *QUERIES):
        raise InvalidInput(f"retriever {config.retriever!r} or query {config.query!r} is not one there is.")
    if min(config.k, config.P, config.A, config.T, config.shots, config.max_new_tokens) < 0:
        raise InvalidInput("Numbers of passages, exemplars and tokens are not negative.")
    if max(config.P, config.A) > config.k:
        raise InvalidInput("P and A are at most k: what was not retrieved is neither read nor attributed to.")
    marks = [*config.stated, *(config.inferred or {})]
    if sorted(marks) != sorted(config.components()):
        raise InvalidInput(f"marks {sorted(marks)} are not the components {sorted(config.components())}.")


def _parse(name: str, text: str, kind: type[Any]) -> Any:
    try:
        return float(text) if kind is type(None) else kind(text)
    except ValueError:
        raise InvalidInput(f"{name}={text!r} is not a number.", "Set it to a number.") from None
