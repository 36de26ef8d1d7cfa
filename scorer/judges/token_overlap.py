"""The baseline judge: which words of question and answer stand in the premise. No model, no download."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from core.errors import InvalidInput
from core.records import Judgment, Pair
from core.templates import question_and_answer
from scorer.judges.options import Options
from scorer.judges.verdict import label

VERSION = 1
_WORD = re.compile(r"\w+")
_LIST = """
a an and are as at be been but by can could did do does for from had has have he her his how i if in into is
it its many may me might much my no not of on or our s shall she should so than that the their them then there
these they this those to us was we were what when where which who whom whose why will with would you your
"""
_FUNCTION_WORDS = frozenset(_LIST.split())


class TokenOverlap:
    """A baseline, not an entailment model: a wrong name of the same passage passes like the right one."""

    key = "token-overlap"
    title = "Token overlap (baseline)"
    help = (
        "A baseline without a model: the geometric mean of the share of the answer's words and the share of "
        "the question's content words that stand in the passage. It reads no meaning: compare it with itself."
    )
    score_name = "Token overlap (baseline)"
    signature = f"judge:token-overlap@{VERSION}|tmpl:aqa"

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment]:
        """Judgments in the order of `pairs`; each depends on its premise and hypothesis alone."""
        return [self._judgment(pair) for pair in pairs]

    def _judgment(self, pair: Pair) -> Judgment:
        p = overlap(pair.premise, pair.hypothesis)
        return Judgment(p, label(p))


def overlap(premise: str, hypothesis: str) -> float:
    """Word overlap in [0, 1]: √(answer share × question share) of a QA statement, else its words' share."""
    present = frozenset(_words(premise))
    statement = question_and_answer(hypothesis)
    if statement is None:
        return _share(_content(hypothesis), present, whole=hypothesis, premise=premise)
    question, answer = statement
    answered = _share(_content(answer), present, whole=answer, premise=premise)
    asked = [word for word in _words(question) if word not in _FUNCTION_WORDS]
    if not asked:
        return answered
    return float((answered * _share(asked, present, whole=question, premise=premise)) ** 0.5)


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def _content(text: str) -> list[str]:
    """Its words without function words; all of them where nothing else is left (`The Who`)."""
    words = _words(text)
    return [word for word in words if word not in _FUNCTION_WORDS] or words


def _share(words: list[str], present: frozenset[str], whole: str, premise: str) -> float:
    if not words:
        return float(bool(whole.strip()) and whole.strip() in premise)
    return sum(word in present for word in words) / len(words)


def load(source: str, options: Options) -> TokenOverlap:
    """The baseline judge. Raises `InvalidInput` where a checkpoint is named: it has none."""
    if source:
        raise InvalidInput("the judge 'token-overlap' has no checkpoint", "Use it as `token-overlap`.")
    return TokenOverlap()
