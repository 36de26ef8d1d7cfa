"""How answerers and readers ask a model: one prompt that it refuses costs one answer, not the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.errors import InvalidInput
from systems.records import LLM, Completion

REFUSED = "refused"
FLAG = "the model refused the prompt"


def ask(llm: LLM, prompts: Sequence[str], *, max_new_tokens: int, stop: Sequence[str] = ()) -> list[Completion]:
    """As `LLM.generate`, but a prompt that is refused among others that are not (too long, or filtered by its endpoint)
    comes back empty, with `finish` `refused`.

    Raises `InvalidInput` where every one of several is refused, as then the model or the prompt is wrong.
    """
    try:
        return llm.generate(prompts, max_new_tokens=max_new_tokens, stop=stop)
    except InvalidInput as error:
        if len(prompts) < 2:
            return [Completion("", 0, 0, REFUSED) for _ in prompts]
        reason = error
    told = [each for prompt in prompts for each in ask(llm, [prompt], max_new_tokens=max_new_tokens, stop=stop)]
    if all(each.finish == REFUSED for each in told):
        raise reason
    return told


def trace(prompt: str, completion: Completion) -> dict[str, Any]:
    """What is kept of one prompt: its text, the raw answer, how it ended, usage, and a remark if it was refused."""
    kept = {"prompt": prompt, "raw": completion.text, "finish": completion.finish, "usage": completion.usage}
    return kept | ({"flags": [FLAG]} if completion.finish == REFUSED else {})
