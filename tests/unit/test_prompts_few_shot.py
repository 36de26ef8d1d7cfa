"""Which exemplars a few-shot answerer shows, and what it keeps of a model's text."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from core.errors import InvalidInput
from core.records import Question
from systems import prompts
from systems.answerers import FewShot
from systems.exemplars import Fixed, Own, Similar
from systems.llm.asking import ask
from systems.prompts import Exemplar
from systems.records import Completion
from tests.scripted_llm import ScriptedLLM

POOL = [(f"who made thing {at}", (f"maker {at}", "somebody")) for at in range(20)]
POOL += [("what is the capital of norway", ("Oslo",)), ("what is the capital of sweden", ("Stockholm",))]


def question(text: str, position: int = 0) -> Question:
    return Question(position, str(position), text, ("x",))


def test_fixed_exemplars_are_drawn_once_by_the_seed_and_never_the_question():
    chosen = Fixed(POOL, 6, seed=1).choose([question("a"), question("b")])
    assert chosen[0] == chosen[1] == Fixed(POOL, 6, seed=1).choose([question("c")])[0]
    assert len(chosen[0]) == 6
    assert Fixed(POOL, 6, seed=2).choose([question("a")])[0] != chosen[0]
    shown = chosen[0][0].question
    without = Fixed(POOL, 6, seed=1).choose([question(f" {shown} ")])[0]
    assert without[:5] == chosen[0][1:]
    assert len(without) == 6
    assert shown not in [each.question for each in without]


def test_similar_exemplars_stand_nearest_to_the_question():
    chosen = Similar(POOL, 3).choose([question("what is the capital of denmark"), question(POOL[20][0])])
    assert {each.answer for each in chosen[0][-2:]} == {"Oslo", "Stockholm"}
    assert chosen[1][-1].answer == "Stockholm", "the question itself is left out"
    assert [len(each) for each in chosen] == [3, 3]


def test_exemplars_without_a_page_are_not_shown_and_own_pages_are_kept():
    asked: list[Sequence[Exemplar]] = []

    def address_of(some: Sequence[Exemplar]) -> list[str]:
        asked.append(some)
        return ["https://en.wikipedia.org/wiki/Oslo" if each.answer == "Oslo" else "" for each in some]

    model = ScriptedLLM(lambda prompt: " Copenhagen\nURL: https://en.wikipedia.org/wiki/Copenhagen\n\nQ: more")
    reading = FewShot(model, Similar(POOL, 3), 30, address_of).answer_all([question("what is the capital of denmark")])
    assert "A: Oslo\nURL: https://en.wikipedia.org/wiki/Oslo\n" in model.seen[0]
    assert "Stockholm" not in model.seen[0]
    assert (reading[0].answer, reading[0].trace["url"]) == ("Copenhagen", "https://en.wikipedia.org/wiki/Copenhagen")
    asked.clear()
    own = Own(prompts.load("answer-url@1").exemplars, 4)
    FewShot(model, own, 30, address_of).answer_all([question("what is the capital of denmark")])
    assert model.seen[1].count("URL: https://en.wikipedia.org/wiki/") == 4
    assert asked == [], "an exemplar that names its page is not searched for"


@pytest.mark.parametrize("address_of", [None, lambda some: [""] * len(some)])
def test_signatures_tell_prompts_and_exemplars_apart(address_of):
    model = ScriptedLLM(lambda prompt: "x")
    parts = FewShot(model, Fixed(POOL, 6, seed=1), 30, address_of).signature.split("|")
    name = "closed-book@1" if address_of is None else "answer-url@1"
    assert f"prompt:{name}#{prompts.load(name).digest}" in parts
    assert FewShot(model, Fixed(POOL, 6, seed=2), 30, address_of).signature != "|".join(parts)


def test_a_trained_model_is_shown_no_exemplar():
    model = ScriptedLLM(lambda prompt: " x")
    FewShot(model, Fixed((), 0, seed=0), 30, lambda some: []).answer_all([question("who")])
    assert model.seen == [prompts.load("answer-url@1").render("who", [])]


class Choosy(ScriptedLLM):
    """Refuses what holds a word; all prompts of a call with it, as real backends do."""

    def generate(self, prompts: Sequence[str], *, max_new_tokens: int, stop: Sequence[str] = ()) -> list[Completion]:
        if any("secret" in prompt for prompt in prompts):
            raise InvalidInput("no", "never")
        return super().generate(prompts, max_new_tokens=max_new_tokens, stop=stop)


def test_a_prompt_that_is_refused_costs_one_answer():
    told = ask(Choosy(lambda prompt: "yes"), ["a", "the secret", "b"], max_new_tokens=5)
    assert [(each.text, each.finish) for each in told] == [("yes", "length"), ("", "refused"), ("yes", "length")]
    answerer = FewShot(Choosy(lambda prompt: " Oslo"), Own([], 0), 5)
    readings = answerer.answer_all([question("the secret"), question("capital of norway")])
    assert [each.answer for each in readings] == ["", "Oslo"]
    assert [each.trace.get("flags") for each in readings] == [["the model refused the prompt"], None]
    assert readings[0].trace["usage"] == {"prompt_tokens": 0, "new_tokens": 0, "cost": None}


def test_where_all_are_refused_something_is_wrong():
    with pytest.raises(InvalidInput, match="no"):
        ask(Choosy(lambda prompt: ""), ["secret 1", "secret 2"], max_new_tokens=5)
    assert ask(Choosy(lambda prompt: ""), ["secret"], max_new_tokens=5)[0].finish == "refused"
