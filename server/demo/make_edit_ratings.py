"""Make the synthetic ratings of the demo's edited passages: `python -m server.demo.make_edit_ratings`.

No person rated anything. A sentence is truly attributable iff it stands word for word in a snippet of its report, or it
is a sentence of the corrected passage and the report holds a passage that was marked for it. The intent is truly kept
iff at least `KEPT` of the original's words stand in the revision. Simulated raters get either wrong independently.
"""

from __future__ import annotations

import gzip
import io
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.editing import Snippet
from core.sentences import split
from server.demo.draws import uniform
from server.demo.files import DATA, read_jsonl, write_rows
from submissions.editing.labels import INTENT, key_of

FOLDER = DATA / "editing"
SEED = 271828
ERROR_RATES = {"rater-1": 0.04, "rater-2": 0.07, "rater-3": 0.10}
KEPT = 0.6
HEADER = ("id", "key", "sentence", "rater", "supported", "intent", "note")
Row = tuple[str, ...]
Item = dict[str, Any]


def revisions() -> Iterator[tuple[int, Item, Item, Item]]:
    """(position, passage, what was planted, revision) of every entry and recorded run, entry by entry."""
    items, planted = read_jsonl(FOLDER / "passages.jsonl"), read_jsonl(FOLDER / "planted.jsonl")
    places = {item["id"]: at for at, item in enumerate(items)}
    for path in [*sorted((FOLDER / "entries").glob("*.jsonl")), *sorted((FOLDER / "runs").glob("*.jsonl"))]:
        for revision in read_jsonl(path):
            at = places[revision["id"]]
            yield at, items[at], planted[at], revision


def attributable(sentence: str, planted: Item, report: list[Item]) -> bool:
    """The rule for a sentence."""
    if any(sentence in snippet["text"] for snippet in report):
        return True
    marked = any(snippet["source"] in planted["passages"] for snippet in report)
    return marked and sentence in split(planted["corrected"])


def intent_kept(original: str, revised: str) -> bool:
    """The rule for the intent."""
    had, has = (Counter(re.findall(r"\w+", text.casefold())) for text in (original, revised))
    return (had & has).total() >= KEPT * had.total()


def rows() -> Iterator[Row]:
    """Each rater's word on each different question, once, whatever entries share it."""
    asked: set[tuple[bytes, int]] = set()
    for at, item, planted, revision in revisions():
        report = [Snippet(each["text"], each["source"], each["query"]) for each in revision["report"]]
        for text in (revision["revised"], item["text"]):
            key = key_of(at, text, report)
            truths = {
                number: attributable(sentence, planted, revision["report"])
                for number, sentence in enumerate(split(text) if report else (), start=1)
            }
            if text.strip() and text.strip() != item["text"].strip():
                truths[INTENT] = intent_kept(item["text"], text)
            for number, truth in truths.items():
                if (key, number) not in asked:
                    asked.add((key, number))
                    yield from _words(item["id"], key.hex(), number, truth)


def _words(identifier: str, key: str, number: int, truth: bool) -> Iterator[Row]:
    for rater, rate in ERROR_RATES.items():
        wrong = uniform(SEED, rater, key, str(number)) < rate
        said = "Y" if truth != wrong else "N"
        supported, intent = ("", said) if number == INTENT else (said, "")
        yield identifier, key, str(number), rater, supported, intent, "synthetic"


def write_ratings(path: Path) -> None:
    """Write the rater-level labels, gzipped, the same bytes each time."""
    text = io.StringIO(newline="")
    write_rows(text, HEADER, rows())
    path.write_bytes(gzip.compress(text.getvalue().encode("utf-8"), mtime=0))


if __name__ == "__main__":
    write_ratings(FOLDER / "ratings.csv.gz")
