"""The embedded default judge: a support score from frozen MiniLM token vectors, two CPU cores, no torch.

A weak stand-in for the paper's T5-11B judge; `docs/judges/small.md` says what it gets right and wrong.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import repeat

from core.errors import InvalidInput
from core.records import Judgment, Pair
from core.templates import question_and_answer
from scorer.judges import small_encoder, small_model
from scorer.judges.options import Options
from scorer.judges.small_encoder import Encoder, Tokens
from scorer.judges.small_features import canonical, claim_features, qa_features
from scorer.judges.small_model import Fitted
from scorer.judges.small_text import condense
from scorer.judges.verdict import label, near

CHARACTERS_AT_ONCE = 400_000
"""Characters of the pairs whose token vectors are in memory together: about 150 MB."""


class Small:
    """Judges (question, answer, passage) and bare (premise, claim) pairs, each by its own fitted model.

    A pair's score depends on its premise, question and answer (or claim) alone. Where only the hypothesis is given,
    question and answer are read from it.
    """

    key = "small"
    title = "Small (support score)"
    help = (
        "A support score from frozen MiniLM token vectors and what the letters say; runs on any laptop. "
        "A weak stand-in for the paper's T5-11B judge: it often accepts a plausible wrong answer of the same passage."
    )
    score_name = "Support score"

    def __init__(self, encoder: Encoder, fitted: Fitted, threads: int | None = None) -> None:
        self._encoder = encoder
        self._fitted = fitted
        self._threads = threads or _cores()
        self.signature = f"judge:small@{fitted.version}+{fitted.digest[:12]}|tmpl:aqa"

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment]:
        """Judgments in the order of `pairs`; what several pairs share is encoded once."""
        readings = [_reading(pair) for pair in pairs]
        order = sorted(range(len(pairs)), key=lambda k: readings[k].premise)
        found: dict[int, Judgment] = {}
        with ThreadPoolExecutor(self._threads) as pool:
            for part in _parts(order, readings):
                texts = sorted({text for k in part for text in readings[k].texts})
                known = dict(zip(texts, self._encoder.encode_all(texts, pool.map), strict=True))
                judged = pool.map(self._judgment, [readings[k] for k in part], repeat(known))
                found.update(zip(part, judged, strict=True))
        return [found[k] for k in range(len(pairs))]

    def _judgment(self, reading: _Reading, known: dict[str, Tokens]) -> Judgment:
        flags = ["passage-condensed"] if reading.condensed else []
        premise = known[reading.premise]
        if reading.blank or not len(premise):
            return Judgment(0.0, "0", (*flags, "no-passage"))
        p = self._probability(reading, known, premise)
        if p is None:
            return Judgment(0.0, "0", (*flags, "no-claim" if reading.question is None else "no-answer"))
        return Judgment(p, label(p), (*flags, *near(p)))

    def _probability(self, reading: _Reading, known: dict[str, Tokens], premise: Tokens) -> float | None:
        """None where there is no claim or no answer."""
        if reading.question is not None and not any(c.isalnum() for c in reading.claim):
            return None
        asked, stated = known[reading.asked], known[reading.stated]
        if len(asked):
            features = qa_features(reading.question or "", reading.claim, asked, stated, premise)
            return self._fitted.qa.probability(features)
        return self._fitted.claim.probability(claim_features(stated, premise)) if len(stated) else None


@dataclass(frozen=True, slots=True)
class _Reading:
    """What is read of a pair: `claim` is the answer where there is a question (canonical), else the whole claim."""

    premise: str
    condensed: bool
    blank: bool
    question: str | None
    claim: str

    @property
    def asked(self) -> str:
        """The question; empty for a bare claim."""
        return self.question or ""

    @property
    def stated(self) -> str:
        """The claim, after the question where there is one."""
        return f"{self.question} {self.claim}" if self.question else self.claim

    @property
    def texts(self) -> tuple[str, str, str]:
        """All that has to be encoded."""
        return self.premise, self.asked, self.stated


def _reading(pair: Pair) -> _Reading:
    premise, condensed = condense(pair.premise, pair.hypothesis)
    blank = pair.passage is not None and not pair.passage.text.strip()
    parts = _question_and_answer(pair)
    if parts is None:
        return _Reading(premise, condensed, blank, None, pair.hypothesis)
    return _Reading(premise, condensed, blank, canonical(parts[0]), parts[1].strip())


def _parts(order: list[int], readings: list[_Reading]) -> Iterator[list[int]]:
    """Runs of pairs whose token vectors fit into memory together."""
    part: list[int] = []
    size = 0
    for k in order:
        part.append(k)
        size += sum(map(len, readings[k].texts))
        if size >= CHARACTERS_AT_ONCE:
            yield part
            part, size = [], 0
    if part:
        yield part


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _question_and_answer(pair: Pair) -> tuple[str, str] | None:
    if pair.question is not None and pair.answer is not None:
        return pair.question, pair.answer
    return question_and_answer(pair.hypothesis)


def load(source: str, options: Options) -> Small:
    """The judge on installed packages, or on a folder or hub id with `model.onnx` and `tokenizer.json`.

    Raises `InvalidInput` for options it does not have and `Unavailable` where a file is missing or another one.
    """
    if options.device not in ("auto", "cpu") or Options(device=options.device) != options:
        raise InvalidInput("the judge 'small' runs on the CPU and has no options", "Use it as `small`.")
    fitted = small_model.load()
    return Small(small_encoder.load(source, fitted.encoder), fitted)
