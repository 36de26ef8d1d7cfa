"""One prompt to a language model as a call that can share a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.records import Question
from systems.prompts import template as templates
from systems.prompts.template import Template
from systems.rarr.calls import Call, Failed, Steps
from systems.records import LLM, Completion


@dataclass(frozen=True, slots=True)
class Answered:
    """What was asked (the prompt without its template's examples), and what came back."""

    template: Template
    prompt: str
    completion: Completion


def ask(llm: LLM, template: Template, parts: dict[str, str], max_new_tokens: int) -> Steps[Answered | Failed]:
    """The model's text after the prompt, or why there is none."""
    tail = template.tail(**parts)

    def many(prompts: Sequence[str]) -> list[Completion]:
        return llm.generate(prompts, max_new_tokens=max_new_tokens, stop=template.stop)

    told = yield Call(("llm", llm.signature, max_new_tokens, template.stop), many, [template.head + tail])
    return told[0] if isinstance(told[0], Failed) else Answered(template, tail, told[0])


def variant(name: str, question: Question) -> Template:
    """The template of a step: its contextual one for a reply within a conversation. `name` is NAME@VERSION."""
    base, _, version = name.partition("@")
    return templates.load(f"{base}-context@{version}" if question.context else name)


def parts_of(question: Question, passage: str) -> dict[str, str]:
    """What every prompt shows of an item: the passage as it is now, and the turns before it."""
    context = {"context": " | ".join(question.context)} if question.context else {}
    return context | {"passage": passage}


def enough_for(text: str, extra: int = 64, step: int = 64) -> int:
    """Tokens that suffice to write a text anew, in steps, so that texts of like length share a batch.

    English has about four characters a token; three leave room for names and other languages.
    """
    return step * -(-(len(text) // 3 + extra) // step)
