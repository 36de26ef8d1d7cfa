"""Print EM and simulated AIS of the demo's entries and of its recorded runs: `python -m server.demo.summary`."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from core.text import squad_normalise
from server.demo.files import DATA, read_csv, read_jsonl
from server.demo.recorded import FOLDER


def predictions() -> list[Path]:
    """The files of all entries that the demo shows, the recorded runs of real systems among them."""
    return [*(DATA / "entries").glob("*.csv"), *FOLDER.glob("*.csv")]


def exact_match(file: Path) -> float:
    """EM (0–1) of an entry over all questions."""
    references = {e["question"]: e["answer"] for e in read_jsonl(DATA / "questions.jsonl")}
    hits = sum(
        bool(row["answer"].strip())
        and squad_normalise(row["answer"]) in {squad_normalise(a) for a in references[row["question"]]}
        for row in read_csv(file)
    )
    return hits / len(references)


def simulated_ais(file: Path) -> float:
    """AIS (0–1) of an entry on the rated subset by the strict majority of the synthetic raters."""
    positive: dict[tuple[str, str, str], list[bool]] = defaultdict(list)
    for row in read_csv(DATA / "ratings.csv"):
        positive[row["question"], row["answer"], row["attribution"]].append(row["supported"] == "Y")
    rated = set((DATA / "rated.txt").read_text("utf-8").split())
    questions = {e["question"] for e in read_jsonl(DATA / "questions.jsonl") if e["id"] in rated}
    hits = 0
    for row in read_csv(file):
        votes = positive.get((row["question"], row["answer"], row["attribution"]), [])
        hits += row["question"] in questions and 2 * sum(votes) > len(votes)
    return hits / len(questions)


def main() -> None:
    """Print one line per entry, best EM first; a recorded run says that it is one."""
    print(f"{'entry':20}{'EM':>7}{'AIS':>7}")
    for em, file in sorted(((exact_match(file), file) for file in predictions()), key=lambda pair: (-pair[0], pair[1])):
        run = "  recorded run" if file.parent == FOLDER else ""
        print(f"{file.stem:20}{100 * em:7.1f}{100 * simulated_ais(file):7.1f}{run}")


if __name__ == "__main__":
    main()
