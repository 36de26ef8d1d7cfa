"""Make the demo benchmark's entries: `python -m server.demo.make_entries`.

Deterministic, standard library only, no judge. Only `oracle-passage` looks at the hand-marked supporting passages;
no procedure looks at the references of an evaluated question.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from server.demo.files import DATA, read_jsonl, read_passages, write_csv
from server.demo.systems import LARGE_MEMORY, SMALL_MEMORY, StandIns

HEADER = ("question", "answer", "attribution")
Procedure = Callable[[str], tuple[str, str]]


def procedures() -> dict[str, Procedure]:
    """File stem → the function from a question to (answer, attribution)."""
    exemplars = [(entry["question"], entry["answer"][0]) for entry in read_jsonl(DATA / "exemplars.jsonl")]
    systems = StandIns(read_passages(), exemplars)
    return {
        "rtr-bm25-1": lambda question: systems.retrieve_then_read(question, 1),
        "rtr-bm25-5": lambda question: systems.retrieve_then_read(question, 5),
        "rtr-title-search": systems.title_search,
        "rtr-top-title": systems.top_title,
        "post-hoc-small-memory": lambda question: _post_hoc(systems, question, systems.recall(question, SMALL_MEMORY)),
        "post-hoc-large-memory": lambda question: _post_hoc(systems, "", systems.recall(question, LARGE_MEMORY)),
        "post-hoc-exemplar": lambda question: _post_hoc(systems, question, systems.nearest_exemplar(question)),
        "llm-url-guess": systems.guess_page,
        "revise-memory": systems.research_and_revise,
        "oracle-passage": _oracle(systems),
    }


def _post_hoc(systems: StandIns, question: str, answer: str) -> tuple[str, str]:
    return systems.post_hoc(f"{question} {answer}", answer)


def _oracle(systems: StandIns) -> Procedure:
    ids = {entry["question"]: entry["id"] for entry in read_jsonl(DATA / "questions.jsonl")}
    marked: dict[str, str] = {}
    for entry in read_jsonl(DATA / "support.jsonl"):
        marked.setdefault(entry["id"], entry["passages"][0])
    return lambda question: systems.read_given(question, marked[ids[question]])


def write_entries(folder: Path) -> None:
    """Write one CSV per procedure into `folder`."""
    questions = [entry["question"] for entry in read_jsonl(DATA / "questions.jsonl")]
    for stem, answer in procedures().items():
        write_csv(folder / f"{stem}.csv", HEADER, ((question, *answer(question)) for question in questions))


if __name__ == "__main__":
    write_entries(DATA / "entries")
