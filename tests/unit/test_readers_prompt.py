"""The prompt reader: what it shows, what it reads out, and that it never asks about nothing."""

from __future__ import annotations

from core.records import Passage
from systems import prompts
from systems.readers.prompt import PromptReader
from tests.scripted_llm import ScriptedLLM

PASSAGES = [Passage("1", "Danube", "Danube", "It ends in the Black Sea."), Passage("2", "Rhine", "Rhine", "North Sea.")]


def test_the_open_question_is_read_from_its_own_passages():
    model = ScriptedLLM(lambda prompt: " Black Sea\nQuestion: more" if prompt.count("Black Sea") else " somewhere")
    reader = PromptReader(model, prompts.load("read-passage@1"))
    readings = reader.read_all(["where does it end", "and this", "nothing"], [PASSAGES, PASSAGES[1:], []])
    assert [each.answer for each in readings] == ["Black Sea", "somewhere", ""]
    assert [each.best for each in readings] == [None, None, None]
    assert len(model.seen) == 2, "no call without a passage"
    assert readings[0].trace["prompt"] == model.seen[0]
    assert readings[0].trace["raw"] == " Black Sea"
    usage = readings[0].trace["usage"]
    assert usage == {"prompt_tokens": len(model.seen[0].split()), "new_tokens": 2, "cost": 0.5}
    assert readings[2].trace == {}


def test_a_citing_reader_names_its_passage():
    reader = PromptReader(ScriptedLLM(lambda prompt: " North Sea [2]"), prompts.load("cite-passage@1"), citing=True)
    reading = reader.read("where", PASSAGES)
    assert (reading.answer, reading.best) == ("North Sea", 1)
    assert reader.read("where", PASSAGES[:1]).best is None, "there is no second passage"
    assert "cite-passage@1" in reader.signature
