"""The three architectures of AQA §4 over scripted parts: what is retrieved, read, chosen, flagged."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.corpus import Corpus
from core.errors import InvalidInput
from core.records import Passage, Question
from systems import catalog
from systems.architectures.choice import holds
from systems.architectures.llm_as_retriever import NO_ADDRESS, NO_PAGE, NO_WORD
from systems.config import SystemConfig
from systems.parts import Parts
from systems.records import Output
from systems.retrieval.store import IndexStore
from tests.scripted_parts import LastWordReader, ScriptedLLM, TitleJudge
from tests.small_corpus import WIKI, make_corpus

OSLO, HISTORY = f"{WIKI}Oslo#Oslo#0", f"{WIKI}Oslo#Oslo#History#1"
ROME, NILE = f"{WIKI}Rome#Rome#0", f"{WIKI}Nile#Nile#0"
POOL = [(f"what is the capital of country {at}", (f"City {at}", "Other")) for at in range(30)] + [
    ("how long is the rhine", ("1,230 km",)),
    ("what is the capital of italy", ("Rome",)),
]


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return make_corpus(tmp_path)


def parts(corpus: Corpus, tmp_path: Path, llm=None, reader=None, judge=None) -> Parts:
    return Parts(
        corpus,
        IndexStore(tmp_path / "indexes"),
        POOL,
        judge_source=lambda: judge,
        llm_source=lambda spec, seed: llm,
        reader_source=lambda spec, model, seed: reader,
    )


def ask(config: SystemConfig, made: Parts, *texts: str) -> list[Output]:
    return list(catalog.make(config, made).answer([Question(at, f"q{at}", text, ()) for at, text in enumerate(texts)]))


def rtr(**changes: str) -> SystemConfig:
    usual = {"k": "50", "P": "1", "A": "1"}
    return catalog.find("Small-RTR").changed(usual | changes)


def test_rtr_reads_and_attributes_the_top_passage(corpus: Corpus, tmp_path: Path) -> None:
    reader = LastWordReader()
    found = ask(rtr(), parts(corpus, tmp_path, reader=reader), "capital of norway", "xyzzy", "nile")
    assert [(output.answer, output.passage_id) for output in found] == [("city", OSLO), ("", None), ("Egypt", NILE)]
    assert [output.position for output in found] == [0, 1, 2]
    assert found[1].trace["flags"] == ["no hit"]
    assert reader.read_sets == [[OSLO], [], [NILE]]
    assert found[0].trace["retrieved"][0][0] == OSLO
    assert found[0].trace["usage"] == {"prompt_tokens": 7, "new_tokens": 1, "cost": 0.5}


@pytest.mark.parametrize(
    ("considered", "best", "chosen"), [("1", None, OSLO), ("50", None, ROME), ("50", 1, ROME), ("1", 1, OSLO)]
)
def test_rtr_chooses_among_the_passages_considered(
    corpus: Corpus, tmp_path: Path, considered: str, best: int | None, chosen: str
) -> None:
    """The reader names a passage, or the best that holds the answer is taken; A = 1 leaves the top one only."""

    class Says(LastWordReader):
        def read(self, question, passages):
            return type(super().read(question, passages))("Italy", self.best, {})

    made = parts(corpus, tmp_path, reader=Says(best))
    found = ask(rtr(P="50", A=considered), made, "norway's capital, its largest city; rome")
    assert [hit[0] for hit in found[0].trace["retrieved"][:2]] == [OSLO, ROME]
    assert found[0].passage_id == chosen


def test_rtr_reranked_by_a_judge_reads_every_passage_alone(corpus: Corpus, tmp_path: Path) -> None:
    reader, judge = LastWordReader(), TitleJudge("Rome")
    made = parts(corpus, tmp_path, reader=reader, judge=judge)
    found = ask(rtr(reranker="judge"), made, "capital of norway", "xyzzy")
    assert (found[0].answer, found[0].passage_id) == ("Italy", ROME)
    assert found[0].trace["judge"] == [0.2, 0.9]
    assert reader.read_sets == [[OSLO], [ROME]]
    assert [pair.hypothesis for pair in judge.seen] == [
        f"The answer to the question 'capital of norway' is '{answer}'" for answer in ("city", "Italy")
    ]
    assert found[0].trace["usage"] == {"prompt_tokens": 14, "new_tokens": 2, "cost": 1.0}
    assert found[1].passage_id is None


def post(**changes: str) -> SystemConfig:
    return catalog.find("Small-Post").changed(changes)


def test_post_hoc_attributes_to_the_best_passage_that_holds_the_answer(corpus: Corpus, tmp_path: Path) -> None:
    llm = ScriptedLLM({"capital of italy or norway": "Italy", "nile": "7 km", "empty": ""}.__getitem__)
    texts = ("capital of italy or norway", "nile", "empty")
    found = ask(post(), parts(corpus, tmp_path, llm), *texts)
    assert [(output.answer, output.passage_id) for output in found] == [("Italy", ROME), ("7 km", NILE), ("", None)]
    assert found[1].trace["flags"] == ["the chosen passage does not contain the answer"]
    assert found[2].trace["flags"] == ["no answer to attribute"]
    assert found[0].trace["answerer"]["raw"].strip() == "Italy"


def test_post_hoc_k_decides_between_the_top_and_the_one_that_holds_the_answer(corpus: Corpus, tmp_path: Path) -> None:
    llm = ScriptedLLM(lambda question: "Christiania")
    text = "oslo norway capital largest city"
    assert ask(post(k="1"), parts(corpus, tmp_path, llm), text)[0].passage_id == OSLO
    assert ask(post(k="50"), parts(corpus, tmp_path, llm), text)[0].passage_id == HISTORY


def test_post_hoc_reranked_by_a_judge(corpus: Corpus, tmp_path: Path) -> None:
    judge, llm = TitleJudge("Rome"), ScriptedLLM(lambda question: "Oslo")
    found = ask(post(reranker="judge"), parts(corpus, tmp_path, llm, judge=judge), "capital of norway")
    assert (found[0].answer, found[0].passage_id) == ("Oslo", ROME)


def test_exemplars_fixed_or_similar_and_never_the_question_itself(corpus: Corpus, tmp_path: Path) -> None:
    fixed, similar = ScriptedLLM(str), ScriptedLLM(str)
    texts = ("how long is the nile", "when", "What is the capital of  italy")
    ask(post(exemplars="NQ-64", shots="31"), parts(corpus, tmp_path, fixed), *texts)
    ask(post(exemplars="NQ-full", shots="8"), parts(corpus, tmp_path, similar), *texts)
    shown = [prompt.rsplit("\n\n", 1)[0] for prompt in fixed.prompts]
    assert shown[0] == shown[1] != shown[2]
    assert all(prompt.count("Q: ") == 32 for prompt in fixed.prompts)
    assert "A: Rome" not in fixed.prompts[2]
    assert similar.prompts[0].split("\n\n")[-2] == "Q: how long is the rhine\nA: 1,230 km"
    assert "A: Rome" not in similar.prompts[2]
    assert all(prompt.count("Q: ") == 9 for prompt in similar.prompts)


def url(**changes: str) -> SystemConfig:
    return catalog.find("Small-URL").changed({"exemplars": "NQ-64", "shots": "32"} | changes)


def test_llm_as_retriever_finds_the_paragraph_of_the_page(corpus: Corpus, tmp_path: Path) -> None:
    rules = {
        "what was oslo named": "Christiania\nURL: https://en.m.wikipedia.org/wiki/oslo",
        "capital of sweden": "Stockholm\nURL: https://en.wikipedia.org/wiki/Stockholm",
        "who": "Somebody",
        "xyzzy": "plugh\nURL: https://en.wikipedia.org/wiki/Nile",
    }
    llm = ScriptedLLM(rules.__getitem__)
    found = ask(url(), parts(corpus, tmp_path, llm), *rules)
    assert [(output.answer, output.passage_id) for output in found] == [
        ("Christiania", HISTORY), ("Stockholm", None), ("Somebody", None), ("plugh", NILE),
    ]  # fmt: skip
    assert [output.trace.get("flags", []) for output in found] == [[], [NO_PAGE], [NO_ADDRESS], [NO_WORD]]
    # The one exemplar whose answer a passage holds is shown with that passage's page; others have no page to show.
    assert f"{WIKI}Rome" in llm.prompts[0]
    assert "City 1" not in llm.prompts[0]


def test_what_must_be_handed_in_is_asked_for(corpus: Corpus, tmp_path: Path) -> None:
    for name, missing in (("RTR-4", "model"), ("Post-6", "model"), ("RTR-10", "encoder")):
        with pytest.raises(InvalidInput, match=missing):
            catalog.make(catalog.find(name), parts(corpus, tmp_path))
    with pytest.raises(InvalidInput, match="no exemplars"):
        made = parts(corpus, tmp_path, ScriptedLLM(str))
        made.exemplars = ()
        catalog.make(catalog.find("Small-Post"), made)


@pytest.mark.parametrize(
    ("text", "answer", "expected"),
    [
        ("It has 1,234 towers.", "1234", True),
        ("The Who played.", "who", True),
        ("the whole town", "who", False),
        ("U.S. law", "US", True),
        ("anything", "", False),
        ("anything", "the", False),
    ],
)
def test_holding_an_answer(text: str, answer: str, expected: bool) -> None:
    assert holds(Passage("p", "T", "T", text), answer) is expected


def test_what_a_model_refused_is_counted(corpus: Corpus, tmp_path: Path) -> None:
    def rule(question: str) -> str:
        if "norway" in question:
            raise InvalidInput("refused", "never")
        return "Rome"

    for config in (post(shots="0"), url(shots="0")):
        found = ask(config, parts(corpus, tmp_path, llm=ScriptedLLM(rule)), "capital of norway", "capital of italy")
        assert "the model refused the prompt" in found[0].trace["flags"]
        assert "the model refused the prompt" not in found[1].trace.get("flags", [])
        assert [output.answer for output in found] == ["", "Rome"]
