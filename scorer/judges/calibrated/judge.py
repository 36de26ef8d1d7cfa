"""A judge made of another judge and a file of fitted maps: `calibrated:FILE`, as `aqa judge calibrate` writes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from core.errors import InvalidInput, NotFound
from core.ports import Judge
from core.records import Judgment, Pair
from core.templates import question_and_answer
from core.text import canonical_question, hash_key
from scorer.judges.calibrated.crossfit import FOLDS, VERSION, CrossFit, fold_of
from scorer.judges.calibrated.maps import PLATT_LENGTH, Map
from scorer.judges.options import Options
from scorer.judges.verdict import label, near

_OF_THE_PAIR = ("passage-cut", "premise-cut", "passage-condensed", "hypothesis-too-long")
"""Flags of the base judge that stay true of the calibrated score; those on its p do not."""


@dataclass(frozen=True)
class Fitted:
    """What a file holds: the base judge, the maps, and in which fold each learned question and statement was."""

    base: str
    base_signature: str
    fit: CrossFit
    seen: dict[str, int]
    digest: str


class Calibrated:
    """Calibrated p of a base judge; a pair whose question was learned from is scored by the map that left it out."""

    key = "calibrated"
    title = "Calibrated judge"
    help = (
        "Another judge's p, mapped to how often people called such answers attributable. It learned from human labels "
        "by p alone (or p and lengths), and no question is scored by a map that saw one of its labels."
    )
    score_name = "Calibrated support"

    def __init__(self, base: Judge, fitted: Fitted) -> None:
        if base.signature != fitted.base_signature:
            raise InvalidInput(
                f"the maps were fitted to {fitted.base_signature}, and the judge here is {base.signature}",
                "Fit them again with: aqa judge calibrate",
            )
        self._base = base
        self._fitted = fitted
        whole = fitted.fit.whole
        self._maps = (*fitted.fit.maps, *((whole,) if whole else ()))
        self.signature = signature(fitted)

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment]:
        """Judgments in the order of `pairs`."""
        judged = self._base.judge(pairs)
        return [self._judgment(pair, found) for pair, found in zip(pairs, judged, strict=True)]

    def _judgment(self, pair: Pair, found: Judgment) -> Judgment:
        if any(flag.startswith("no-") for flag in found.flags):  # nothing was there to judge, so 0 stays 0
            return found
        lengths = [lengths_of(pair)] if self._fitted.fit.method == PLATT_LENGTH else None
        p = float(self._maps[self._place(pair)]([found.p], lengths)[0])
        kept = tuple(flag for flag in found.flags if flag in _OF_THE_PAIR)
        return Judgment(p, label(p), near(p) + kept)

    def _place(self, pair: Pair) -> int:
        """The fold that left the pair's question (or the statement itself) out; else the map of all labels."""
        names = (name_of(group_of(pair)), name_of(pair.hypothesis))
        return next((self._fitted.seen[name] for name in names if name in self._fitted.seen), FOLDS)


def signature(fitted: Fitted) -> str:
    """The maps' digest, the method, the labels, and the whole signature of the base judge."""
    base = fitted.base_signature.removeprefix("judge:")
    return f"judge:calibrated@{VERSION}+{fitted.digest}|{fitted.fit.signature}|base:{base}"


def group_of(pair: Pair) -> str:
    """The question that a pair belongs to: its own, the one in its statement, or else the statement."""
    said = question_and_answer(pair.hypothesis)
    question = pair.question or (said[0] if said else None)
    return canonical_question(question) if question else pair.hypothesis


def name_of(text: str) -> str:
    """How a learned question or statement is remembered."""
    return hash_key(text, size=8).hex()


def lengths_of(pair: Pair) -> tuple[int, int]:
    """Words of premise and hypothesis."""
    return len(pair.premise.split()), len(pair.hypothesis.split())


def write(
    path: Path, base: str, base_signature: str, fit: CrossFit, groups: Sequence[str], pairs: Sequence[Pair]
) -> str:
    """Write a file that `calibrated:FILE` reads; returns the judge's signature."""
    seen = {name_of(text): fold_of(g) for g, pair in zip(groups, pairs, strict=True) for text in (pair.hypothesis, g)}
    held: dict[str, Any] = {
        "version": VERSION, "base": base, "base_signature": base_signature, "method": fit.method,
        "labels": fit.labels, "n": fit.n, "folds": FOLDS, "maps": [each.to_dict() for each in fit.maps],
        "whole": fit.whole.to_dict() if fit.whole else None, "seen": dict(sorted(seen.items())),
    }  # fmt: skip
    path.write_bytes(orjson.dumps(held, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    return signature(read(path))


def read(path: Path) -> Fitted:
    """The maps of a file. Raises `NotFound` and `InvalidInput`."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise NotFound(
            f"There is no file {path}.", "Write it with: aqa judge calibrate BASE --in FILE --out FILE"
        ) from None
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be read: {error.strerror}.", "Name a file of aqa judge calibrate."
        ) from error
    try:
        held = orjson.loads(data)
        if (held["version"], held["folds"], len(held["maps"])) != (VERSION, FOLDS, FOLDS):
            raise ValueError("another version")
        maps = tuple(Map.from_dict(each) for each in held["maps"])
        fit = CrossFit(held["method"], maps, Map.from_dict(held["whole"]), held["labels"], int(held["n"]))
        seen = {str(name): int(fold) for name, fold in held["seen"].items()}
        base, said = str(held["base"]), str(held["base_signature"])
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise InvalidInput(f"{path} is not a file of maps: {error}.", "Write it with: aqa judge calibrate") from error
    return Fitted(base, said, fit, seen, hash_key(data.decode("utf-8"), size=6).hex())


def load(source: str, options: Options) -> Calibrated:
    """The judge of a file. Raises `InvalidInput` without one, and what loading the base judge raises."""
    from scorer import judges

    if not source:
        raise InvalidInput("the judge 'calibrated' needs a file of maps", "Use it as `calibrated:FILE`.")
    fitted = read(Path(source))
    if fitted.base.startswith("calibrated"):
        raise InvalidInput("a calibrated judge cannot be calibrated again", "Name the judge beneath it.")
    return Calibrated(judges.load(fitted.base, options), fitted)
