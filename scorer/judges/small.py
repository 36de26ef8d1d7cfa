"""The embedded default judge: a support score from frozen MiniLM token vectors, two CPU cores, no torch.

A weak stand-in for the paper's T5-11B judge; `docs/judges/small.md` says what it gets right and wrong.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from core.errors import InvalidInput
from core.records import Judgment, Pair
from scorer.judges import small_encoder, small_model
from scorer.judges.options import Options
from scorer.judges.small_encoder import Encoder, Tokens
from scorer.judges.small_features import canonical, claim_features, qa_features
from scorer.judges.small_model import Fitted
from scorer.judges.small_text import condense

NEAR = 0.02
_STATEMENT = re.compile(r"The answer to the question '(.*)' is '(.*)'", re.DOTALL)


class Small:
    """Judges (question, answer, passage) and bare (premise, claim) pairs, each by its own fitted model.

    A pair's score depends on its premise, question and answer (or claim) alone: nothing is batched. Where only the
    hypothesis is given, question and answer are read from it.
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
        """Judgments in the order of `pairs`; a premise that several pairs share is encoded once."""
        groups: dict[str, list[int]] = {}
        texts: list[tuple[str, bool]] = []
        for k, pair in enumerate(pairs):
            texts.append(condense(pair.premise, pair.hypothesis))
            groups.setdefault(texts[k][0], []).append(k)
        found: dict[int, Judgment] = {}

        def run(group: tuple[str, list[int]]) -> list[tuple[int, Judgment]]:
            premise = self._encoder.encode(group[0])
            return [(k, self._judgment(pairs[k], premise, texts[k][1])) for k in group[1]]

        with ThreadPoolExecutor(self._threads) as pool:
            for judged in pool.map(run, groups.items()):
                found.update(judged)
        return [found[k] for k in range(len(pairs))]

    def _judgment(self, pair: Pair, premise: Tokens, condensed: bool) -> Judgment:
        flags = ["passage-condensed"] if condensed else []
        parts = _question_and_answer(pair)
        if not len(premise) or (pair.passage is not None and not pair.passage.text.strip()):
            return Judgment(0.0, "0", (*flags, "no-passage"))
        p = self._claim(pair.hypothesis, premise) if parts is None else self._qa(*parts, premise)
        if p is None:
            return Judgment(0.0, "0", (*flags, "no-claim" if parts is None else "no-answer"))
        if abs(p - 0.5) <= NEAR:
            flags.append("near-threshold")
        return Judgment(p, "1" if p >= 0.5 else "0", tuple(flags))

    def _claim(self, claim: str, premise: Tokens) -> float | None:
        tokens = self._encoder.encode(claim)
        return self._fitted.claim.probability(claim_features(tokens, premise)) if len(tokens) else None

    def _qa(self, question: str, answer: str, premise: Tokens) -> float | None:
        question, answer = canonical(question), answer.strip()
        asked = self._encoder.encode(question)
        if not any(c.isalnum() for c in answer):
            return None
        if not len(asked):
            return self._claim(answer, premise)
        stated = self._encoder.encode(f"{question} {answer}")
        return self._fitted.qa.probability(qa_features(question, answer, asked, stated, premise))


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _question_and_answer(pair: Pair) -> tuple[str, str] | None:
    if pair.question is not None and pair.answer is not None:
        return pair.question, pair.answer
    statement = _STATEMENT.fullmatch(pair.hypothesis)
    return None if statement is None else (statement[1], statement[2])


def load(source: str, options: Options) -> Small:
    """The judge on installed packages, or on a folder or hub id with `model.onnx` and `tokenizer.json`.

    Raises `InvalidInput` for options it does not have and `Unavailable` where a file is missing or another one.
    """
    if options.device not in ("auto", "cpu") or Options(device=options.device) != options:
        raise InvalidInput("the judge 'small' runs on the CPU and has no options", "Use it as `small`.")
    fitted = small_model.load()
    return Small(small_encoder.load(source, fitted.encoder), fitted)
