"""Make the demo benchmark's synthetic ratings: `python -m server.demo.make_ratings`.

No person rated anything. A triple is truly supported iff its passage is among the hand-marked supporting passages of
its question and its answer equals, SQuAD-normalised, one that was marked as supported by that passage. Five simulated
raters each get this wrong independently at the rates below.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from core.text import squad_normalise
from server.demo.draws import uniform
from server.demo.files import DATA, read_csv, read_jsonl, write_csv

SEED = 314159
ERROR_RATES = {"rater-1": 0.03, "rater-2": 0.05, "rater-3": 0.06, "rater-4": 0.08, "rater-5": 0.12}
NOT_INTERPRETABLE = 0.02
HEADER = ("question", "answer", "attribution", "rater", "interpretable", "supported", "note")
Triple = tuple[str, str, str]


def supported_pairs() -> dict[str, set[tuple[str, str]]]:
    """Question → the (passage id, normalised answer) pairs that were marked by hand."""
    questions = {entry["id"]: entry["question"] for entry in read_jsonl(DATA / "questions.jsonl")}
    pairs: dict[str, set[tuple[str, str]]] = {question: set() for question in questions.values()}
    for entry in read_jsonl(DATA / "support.jsonl"):
        pairs[questions[entry["id"]]].update(
            (passage, squad_normalise(answer)) for passage in entry["passages"] for answer in entry["answers"]
        )
    return pairs


def triples() -> list[Triple]:
    """Every different complete triple that an entry or a recorded run gives on the rated subset, in question order."""
    rated = set((DATA / "rated.txt").read_text("utf-8").split())
    order = [e["question"] for e in read_jsonl(DATA / "questions.jsonl") if e["id"] in rated]
    found: dict[str, set[Triple]] = {question: set() for question in order}
    for path in [*sorted((DATA / "entries").glob("*.csv")), *sorted((DATA / "runs").glob("*.csv"))]:
        for row in read_csv(path):
            if row["question"] in found and row["answer"].strip() and row["attribution"].strip():
                found[row["question"]].add((row["question"], row["answer"], row["attribution"]))
    return [triple for question in order for triple in sorted(found[question])]


def labels(triple: Triple, truth: bool) -> Iterator[tuple[str, str, str]]:
    """(rater, interpretable, supported) of each simulated rater for one triple; draws depend on nothing else."""
    for rater, rate in ERROR_RATES.items():
        if uniform(SEED, "interpretable", rater, *triple) < NOT_INTERPRETABLE:
            yield rater, "N", ""
        else:
            wrong = uniform(SEED, "supported", rater, *triple) < rate
            yield rater, "Y", "Y" if truth != wrong else "N"


def write_ratings(path: Path) -> None:
    """Write the rater-level labels of all triples."""
    pairs = supported_pairs()
    rows = (
        (*triple, *label, "synthetic")
        for triple in triples()
        for label in labels(triple, (triple[2], squad_normalise(triple[1])) in pairs[triple[0]])
    )
    write_csv(path, HEADER, rows)


if __name__ == "__main__":
    write_ratings(DATA / "ratings.csv")
