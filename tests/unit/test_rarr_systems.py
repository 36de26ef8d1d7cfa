"""Research and revise as systems of the catalog: on passages, on questions, with each editor, from a real T5 too."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from core.corpus import Corpus
from core.errors import InvalidInput, Unavailable
from core.records import Question
from core.tracks import EDITING, QA
from systems import catalog
from systems.parts import Parts, load_llm
from systems.prompts import template as templates
from systems.rarr.answers import UNREAD, answer_in, sentence
from systems.rarr.parsing import read_edit, read_questions, read_verdict
from systems.rarr.records import Document
from systems.rarr.search import HttpSearch, open_http_search
from systems.rarr.system import NO_ANSWER
from systems.retrieval.store import IndexStore
from systems.runner import run
from tests.scripted_editing import StepLLM, asked
from tests.small_corpus import WIKI, make_corpus

OSLO, NILE = f"{WIKI}Oslo#Oslo#0", f"{WIKI}Nile#Nile#0"
TEXT = "Oslo is the capital of Sweden and its largest city."
FIXED = "Oslo is the capital of Norway and its largest city."
PUBLISHED = {
    "agreement-context@1": "7b31484376e3", "agreement@1": "c6a01d997d0e", "claim-and-evidence@1": "83fc12889be3",
    "edit-context@1": "c4c217a5d1dd", "edit@1": "e5524799c83e", "questions-context@1": "0a1b6aac4b86",
    "questions@1": "1a7f20d7dde6", "revise-response-context@1": "0ca6baedabd1", "revise-response@1": "cae572e2d9d4",
    "search-queries-context@1": "2fb76c48cde1", "search-queries@1": "4b1a6046037e",
}  # fmt: skip
"""Runs name these digests: to change a prompt, add the next version and its digest here."""


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return make_corpus(tmp_path)


def edit(prompt: str) -> str:
    text = asked(prompt, "Text")
    new = text.replace("Sweden", "Norway").replace("'Stockholm'", "'Oslo'")
    return f" part\nCorrected text: {new}\n\n"


def script(**replies: object) -> StepLLM:
    usual = {
        "questions": " Of which country is Oslo the capital?\n\n", "searches": " Oslo capital\n\n", "edit": edit,
        "agreement": " a\nEvidence says: b\nVerdict: disagrees\n\n", "rewrite": f" {FIXED}\n\n",
    }  # fmt: skip
    return StepLLM(usual | replies)


def parts(corpus: Corpus, tmp_path: Path, llm: object, track: str = EDITING) -> Parts:
    return Parts(
        corpus, IndexStore(tmp_path / "indexes"), [("who?", ("me",))], track=track,
        llm_source=lambda spec, seed: load_llm(spec, seed) if Path(spec).is_dir() else llm,
    )  # fmt: skip


PASSAGES = [Question(0, "a", TEXT, ()), Question(1, "b", "  ", ()), Question(2, "c", "Rome lies in Italy.", ())]


def test_small_rarr_revises_passages(corpus: Corpus, tmp_path: Path) -> None:
    system = catalog.make(catalog.find("Small-RARR"), parts(corpus, tmp_path, script()))
    found = list(system.answer(PASSAGES))
    assert [output.revision.text for output in found] == [FIXED, "  ", "Rome lies in Italy."]
    assert [snippet.source for snippet in found[0].revision.report] == [OSLO]
    assert found[0].trace["report"][0]["text"] == "Oslo is the capital of Norway and its largest city."
    assert "bm25:lucene" in system.signature
    assert "rounds=2" in system.signature


@pytest.mark.parametrize(
    ("name", "text"), [("Small-LaMDA-Research", FIXED), ("Small-Evidence-only", TEXT), ("Small-RARR", FIXED)]
)
def test_the_others_share_the_research(corpus: Corpus, tmp_path: Path, name: str, text: str) -> None:
    found = list(catalog.make(catalog.find(name), parts(corpus, tmp_path, script())).answer(PASSAGES[:1]))
    assert found[0].revision.text == text
    assert len(found[0].revision.report) == 1


def test_efec_runs_on_a_t5_checkpoint(corpus: Corpus, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from tests.tiny_t5 import random_t5

    folder = random_t5(tmp_path / "t5")
    changes = {"corrector": str(folder), "model": "smollm2", "relevance": "shared-words"}
    config = catalog.configured("EFEC", changes)
    assert not config.lacks()
    found = list(catalog.make(config, parts(corpus, tmp_path, script())).answer(PASSAGES[:1]))
    step = found[0].trace["steps"][-1]
    assert step["prompt"] == f"claim: {TEXT} evidence: Oslo is the capital of Norway and its largest city."
    assert step["step"] == "rewrite"
    assert (found[0].revision.text == TEXT) == (step["decision"] != "accepted")
    assert [snippet.source for snippet in found[0].revision.report] == [OSLO]


@pytest.fixture
def answers(tmp_path: Path) -> str:
    path = tmp_path / "answers.jsonl"
    told = {"what is the capital of norway": "Stockholm", "how long is the nile": "6,650 km", "who": ""}
    path.write_text("".join(json.dumps({"question": q, "answer": a}) + "\n" for q, a in told.items()))
    return f"answers:{path}"


QUESTIONS = [Question(at, f"q{at}", text, ()) for at, text in enumerate(["what is the capital of norway", "who"])]


def revised(corpus: Corpus, tmp_path: Path, answers: str, llm: StepLLM, name: str = "Small-RARR") -> list:
    config = catalog.configured(name, {"answerer": answers})
    return list(catalog.make(config, parts(corpus, tmp_path, llm, QA)).answer(QUESTIONS))


def test_on_questions_the_answer_is_revised_and_attributed(corpus: Corpus, tmp_path: Path, answers: str) -> None:
    found = revised(corpus, tmp_path, answers, script())
    assert [(output.answer, output.passage_id) for output in found] == [("Oslo", OSLO), ("", None)]
    assert found[0].trace["sentence"] == "The answer to the question 'what is the capital of norway' is 'Stockholm'."
    assert found[0].trace["revised"] == "The answer to the question 'what is the capital of norway' is 'Oslo'."
    assert found[1].trace["flags"] == [NO_ANSWER]


def test_an_answer_that_cannot_be_read_back_stays(corpus: Corpus, tmp_path: Path, answers: str) -> None:
    llm = script(edit=" x\nCorrected text: The answer to 'what is the capital of norway' would be 'Stockholm'.\n\n")
    found = revised(corpus, tmp_path, answers, llm)[0]
    assert (found.answer, found.passage_id) == ("Stockholm", OSLO)
    assert UNREAD in found.trace["flags"]


def test_without_editing_the_answer_gets_its_evidence(corpus: Corpus, tmp_path: Path, answers: str) -> None:
    found = revised(corpus, tmp_path, answers, script(), "Small-Evidence-only")[0]
    assert (found.answer, found.passage_id) == ("Stockholm", OSLO)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (sentence("who?", "it's me"), "it's me"),
        ("The answer to the question 'who?' is 'him'", "him"),
        ("The answer to the question 'who was it?' is 'him'.", "him"),
        (sentence("a' is 'b", "c"), "c"),
        (sentence("who?", " "), None),
        ("It was him.", None),
        ("", None),
    ],
)
def test_reading_answers_back(text: str, answer: str | None) -> None:
    assert answer_in(text, "a' is 'b" if "a' is 'b" in text else "who?") == answer


def test_other_architectures_are_refused_on_passages() -> None:
    with pytest.raises(InvalidInput, match="passages to revise") as refused:
        catalog.check_track(catalog.find("Small-RTR"), EDITING)
    assert "Small-RARR" in refused.value.hint
    for track in (QA, EDITING):
        catalog.check_track(catalog.find("RARR"), track)
    catalog.check_track(catalog.find("Small-RTR"), QA)


def test_what_the_paper_states_of_rarr_is_stated() -> None:
    config = catalog.find("RARR")
    for name, value in {
        "k": 5,
        "J": 1,
        "M": 5,
        "largest_edit": 50,
        "largest_share": 0.5,
        "model": "?PaLM-540B",
    }.items():
        assert (getattr(config, name), config.mark(name)) == (value, "stated")
    assert "corrector" in catalog.find("EFEC").lacks()


@pytest.mark.parametrize(
    "changes", [{"M": "6"}, {"temperature": "-1"}, {"rounds": "-1"}, {"editor": "magic"}, {"T": "3"}]
)
def test_wrong_components_are_refused(changes: dict[str, str]) -> None:
    with pytest.raises(InvalidInput):
        catalog.configured("RARR", changes)


def test_a_run_keeps_revisions_and_goes_on(corpus: Corpus, tmp_path: Path) -> None:
    system = catalog.make(catalog.find("Small-RARR"), parts(corpus, tmp_path, script()))
    many = [Question(at, str(at), TEXT, ()) for at in range(40)]

    class Stopped(RuntimeError):
        pass

    def stop(state, total: int) -> None:
        if len(state.outputs) == 35:
            raise Stopped

    with pytest.raises(Stopped):
        run(system, many, tmp_path / "run", progress=stop)
    done = run(system, many, tmp_path / "run")
    assert (done.resumed, done.ended, len(done.outputs)) == (35, "complete", 40)
    assert all(output["text"] == FIXED and output["report"][0]["source"] == OSLO for output in done.outputs)
    assert done.summary()["attributed"] == 40
    assert done.prompt_tokens == 40 * 4 * 10  # two rounds, a verdict, an edit


def test_published_prompts_are_as_they_were() -> None:
    assert {name: templates.load(name).digest for name in templates.names()} == PUBLISHED


@pytest.mark.parametrize("name", [name for name in PUBLISHED if name != "claim-and-evidence@1"])
def test_examples_read_as_they_are_meant_and_every_prompt_has_its_stops(name: str) -> None:
    template = templates.load(name)
    assert len(template.exemplars) >= 3
    assert "\n\n" in template.stop
    for each in template.exemplars:
        assert ("context" in each) == ("-context" in name)
        reply = template.example.format(**each).removeprefix(template.tail(**each))
        if name.startswith("questions"):
            assert read_questions(f"-{reply}") == [line.removeprefix("- ") for line in each["questions"].split("\n")]
        if name.startswith("agreement"):
            assert read_verdict(reply) == each["verdict"]
        if name.startswith("edit"):
            found = read_edit(reply)
            assert found is not None
            assert (found.span, found.text) == (each["span"], each["revised"])
            assert each["passage"].replace(each["span"], each["correction"]) == each["revised"]


@contextmanager
def service(answer: bytes, status: int = 200) -> Iterator[tuple[str, list[str]]]:
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.path)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/search?q={{query}}&format=json", seen
    finally:
        server.shutdown()
        server.server_close()


def test_a_search_service_is_asked_and_read() -> None:
    results = [{"url": f"http://x/{n}", "title": "T", "content": "c\ud800"} for n in range(3)]
    with service(json.dumps({"results": results}).encode()) as (address, seen):
        search = open_http_search(address, 2)
        found = search.search(["who & what?", "two"])
    assert found == [[Document("http://x/0", "T", "c�"), Document("http://x/1", "T", "c�")]] * 2
    assert sorted(seen)[1] == "/search?q=who%20%26%20what%3F&format=json"
    assert search.signature == f"search:{address}|k=2"


@pytest.mark.parametrize(
    ("answer", "status"),
    [(b"{}", 200), (b"<html>", 200), (b"[" * 200_000, 200), (b'{"results": [1]}', 200), (b"", 500)],
    ids=["empty", "page", "deep", "number", "error"],
)
def test_a_search_service_that_says_nothing_readable_is_unavailable(answer: bytes, status: int) -> None:
    pauses: list[float] = []
    with service(answer, status) as (address, seen), pytest.raises(Unavailable, match="no results"):
        HttpSearch(address, 2, pauses.append).search(["x"])
    assert len(seen) == 3
    assert pauses == [2, 4]


def test_an_endless_answer_of_a_search_service_is_not_read_to_its_end() -> None:
    with (
        service(b" " * (8 * 2**20 + 1) + b'{"results": []}') as (address, _),
        pytest.raises(Unavailable, match="larger than 8 MiB"),
    ):
        HttpSearch(address, 2, lambda seconds: None).search(["x"])


@pytest.mark.parametrize("address", ["http://x/search", "ftp://x/{query}", "{query}"])
def test_an_address_without_a_place_for_the_query_is_refused(address: str) -> None:
    with pytest.raises(InvalidInput):
        open_http_search(address, 5)


def test_only_what_can_revise_waits_on_a_benchmark_of_passages() -> None:
    waiting = catalog.not_yet_run({"RARR"}, EDITING)
    assert {config.architecture for config in waiting} == {"research-and-revise"}
    assert "RARR" not in {config.name for config in waiting}
    assert len(catalog.not_yet_run(set())) == len(catalog.catalog())
