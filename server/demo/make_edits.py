"""Make the stand-in entries of the demo's editing benchmark: `python -m server.demo.make_edits`.

Deterministic, no model and no judge. What looks at `planted.jsonl`, where the errors are written down, says so in its
description; no such thing could be built for passages whose errors nobody knows.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.sentences import split
from server.demo.draws import uniform
from server.demo.files import DATA, DemoPassage, read_jsonl, read_passages
from server.demo.retrieval import BM25

FOLDER = DATA / "editing"
SEED = 2210
FOUND = 3
"""Passages that BM25 brings for a text: the report of the stand-ins that search."""
Item = dict[str, Any]


@dataclass(frozen=True)
class StandIns:
    """The corpus as the procedures see it."""

    passages: list[DemoPassage]
    index: BM25

    def marked(self, planted: Item) -> list[Item]:
        """The report of the passages that were marked by hand."""
        by_id = {passage.id: passage for passage in self.passages}
        return [_snippet(by_id[identifier], "") for identifier in planted["passages"]]

    def searched(self, item: Item) -> list[Item]:
        """The report of what BM25 finds for the passage with its context."""
        query = " ".join([*item["context"], item["text"]])
        return [_snippet(self.passages[at], item["text"]) for at, _ in self.index.search(query, FOUND)]


Editor = Callable[[StandIns, Item, Item], tuple[str, list[Item]]]


def oracle(stand_ins: StandIns, item: Item, planted: Item) -> tuple[str, list[Item]]:
    """Every planted error corrected, on the marked passages: an upper bound."""
    return planted["corrected"], stand_ins.marked(planted)


def half_oracle(stand_ins: StandIns, item: Item, planted: Item) -> tuple[str, list[Item]]:
    """Each planted error corrected with an even chance, on what BM25 finds."""
    text = item["text"]
    for error in planted["errors"]:
        if uniform(SEED, item["id"], error["wrong"]) < 0.5:
            text = text.replace(error["wrong"], error["right"])
    return text, stand_ins.searched(item)


def no_editing(stand_ins: StandIns, item: Item, planted: Item) -> tuple[str, list[Item]]:
    """The passage as it was, beside what BM25 finds."""
    return item["text"], stand_ins.searched(item)


def copyist(stand_ins: StandIns, item: Item, planted: Item) -> tuple[str, list[Item]]:
    """The first two sentences of the best hit in place of the passage: attributable, and nothing is preserved."""
    report = stand_ins.searched(item)[:1]
    return " ".join(split(report[0]["text"])[:2]) if report else item["text"], report


EDITORS: dict[str, Editor] = {
    "oracle-editor": oracle,
    "half-oracle-editor": half_oracle,
    "no-editing-bm25": no_editing,
    "copyist-bm25": copyist,
}
"""File stem → the procedure."""


def write_entries(folder: Path) -> None:
    """Write one JSONL per procedure into `folder`."""
    passages = read_passages()
    stand_ins = StandIns(passages, BM25([f"{passage.title} {passage.text}" for passage in passages]))
    items, planted = read_jsonl(FOLDER / "passages.jsonl"), read_jsonl(FOLDER / "planted.jsonl")
    for stem, editor in EDITORS.items():
        lines = []
        for item, told in zip(items, planted, strict=True):
            revised, report = editor(stand_ins, item, told)
            lines.append(json.dumps({"id": item["id"], "revised": revised, "report": report}, ensure_ascii=False))
        (folder / f"{stem}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def _snippet(passage: DemoPassage, query: str) -> Item:
    return {"text": passage.text, "source": passage.id, "query": query}


if __name__ == "__main__":
    write_entries(FOLDER / "entries")
