"""Prompts are versioned files: what is shown, and that a published one never changes."""

from __future__ import annotations

import pytest

from core.errors import NotFound
from core.records import Passage
from systems import prompts
from systems.prompts import Exemplar

PUBLISHED = {
    "answer-url@1": "20655d1fcf0c",
    "cite-passage@1": "6460d18c1e01",
    "closed-book@1": "0761a771b1d6",
    "read-passage@1": "f7e83c96bb8e",
}
"""Runs name these digests: to change a prompt, add the next version and its digest here."""


def test_published_prompts_are_as_they_were():
    assert {name: prompts.load(name).digest for name in prompts.names()} == PUBLISHED


def test_a_closed_book_prompt_word_for_word():
    shown = [Exemplar("who wrote  hamlet", "William\nShakespeare"), Exemplar("{braces}", "50% {of} it")]
    assert prompts.load("closed-book").render("what is\tthe capital of france ", shown) == (
        "Answer each question with as few words as possible.\n\n"
        "Q: who wrote hamlet\nA: William Shakespeare\n\n"
        "Q: {braces}\nA: 50% {of} it\n\n"
        "Q: what is the capital of france\nA:"
    )


def test_a_reading_prompt_shows_passages_in_order_with_their_numbers():
    passages = [Passage("1", "Danube", "Danube, Course", "It flows\neast."), Passage("2", "Rhine", "Rhine", "North.")]
    cite = prompts.load("cite-passage").render("where to", [], passages)
    assert cite.endswith("[1] Danube: It flows east.\n[2] Rhine: North.\nQuestion: where to\nAnswer:")
    read = prompts.load("read-passage").render("where to", None, passages)
    assert read.endswith("Passage (Danube): It flows east.\nPassage (Rhine): North.\nQuestion: where to\nAnswer:")
    assert read.count("Question:") == 1 + len(prompts.load("read-passage").exemplars)


@pytest.mark.parametrize("name", ["answer-url", "read-passage", "cite-passage"])
def test_own_exemplars_have_what_the_prompt_shows_and_never_the_question_asked(name: str):
    prompt = prompts.load(name)
    assert len(prompt.exemplars) >= 3
    for each in prompt.exemplars:
        assert each.url.startswith("https://en.wikipedia.org/wiki/") == (name == "answer-url")
        answer = each.answer.split(" [")[0]
        assert name == "answer-url" or any(answer in passage.text for passage in each.passages)
        assert prompt.render(each.question.title()).count(f"{each.answer}\n") == 0


def test_own_exemplars_parse_to_their_own_answers():
    for each in prompts.load("answer-url").exemplars:
        assert prompts.read_answer_and_url(f" {each.answer}\nURL: {each.url}\n\nQ: next") == (each.answer, each.url)
    for each in prompts.load("cite-passage").exemplars:
        answer, at = prompts.read_cited_answer(each.answer, len(each.passages))
        assert answer in each.passages[at].text


def test_a_name_without_a_version_is_the_newest_and_an_unknown_one_is_told():
    assert prompts.load("closed-book").key == "closed-book@1"
    assert prompts.load("closed-book@1").signature.startswith("prompt:closed-book@1#")
    with pytest.raises(NotFound, match="closed-book@9"):
        prompts.load("closed-book@9")
