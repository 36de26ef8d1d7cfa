"""The text a judge reads (AQA §5.2; the T5 form is TRUE's)."""

from __future__ import annotations

import re

from core.records import Pair, Passage

_STATEMENT = re.compile(r"The answer to the question '(.*)' is '(.*)'", re.DOTALL)


def hypothesis(question: str, answer: str) -> str:
    """The statement to be entailed, as in AQA's released script."""
    return f"The answer to the question '{question}' is '{answer}'"


def question_and_answer(hypothesis: str) -> tuple[str, str] | None:
    """What a statement made by `hypothesis` was made of; None for any other text."""
    found = _STATEMENT.fullmatch(hypothesis)
    return None if found is None else (found[1], found[2])


def premise(passage: Passage) -> str:
    """The passage in the judge's format: `{headings}. {text}`."""
    return f"{passage.headings}. {passage.text}"


def t5_input(premise: str, hypothesis: str) -> str:
    """The single string that TRUE's T5 NLI checkpoints read."""
    return f"premise: {premise} hypothesis: {hypothesis}"


def qa_pair(question: str, answer: str, passage: Passage) -> Pair:
    """The pair for one (question, answer, passage) triple."""
    return Pair(premise(passage), hypothesis(question, answer), question, answer, passage)
