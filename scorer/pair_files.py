"""Files of pairs to judge: JSON Lines of question, answer and passage, or of premise and hypothesis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from core import templates
from core.errors import InvalidInput, NotFound, Refused
from core.passage_text import parse_passage
from core.records import Judgment, Pair, Place

_FORMS = (("question", "answer", "passage"), ("premise", "hypothesis"))
_RESULTS = ("p", "label", "flags")
_MAX_PLACES = 1_000


def read_pairs(path: Path) -> tuple[list[dict[str, Any]], list[Pair]]:
    """The rows and what a judge reads of each, in file order; blank lines are left out.

    Raises `NotFound`, `InvalidInput`, and `Refused` naming every row that is not of one of the two forms.
    """
    rows: list[dict[str, Any]] = []
    pairs: list[Pair] = []
    bad: list[Place] = []
    for number, line, row in rows_of(path):
        pair = pair_of(row) if row is not None else None
        if row is None or pair is None:
            message = "needs texts under question, answer and passage, or under premise and hypothesis"
            bad.append(Place(number, "pair", message, line[:80].decode("utf-8", "replace")))
            continue
        rows.append(row)
        pairs.append(pair)
    if bad or not rows:
        message = (
            f"{len(bad):,} lines are not pairs, the first: line {bad[0].row}." if bad else "There is no pair in it."
        )
        raise Refused(f"{path.name} was refused. {message}", "Mend the lines named.", tuple(bad[:_MAX_PLACES]))
    return rows, pairs


def rows_of(path: Path) -> Iterator[tuple[int, bytes, dict[str, Any] | None]]:
    """Number, bytes and object of each line that is not blank; None for what is not a JSON object.

    Raises `NotFound` and `InvalidInput`.
    """
    for number, line in enumerate(_bytes(path).removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if line.strip():
            yield number, line, _row(line)


def judged_lines(rows: Sequence[Mapping[str, Any]], judgments: Iterable[Judgment]) -> Iterable[bytes]:
    """One JSON line per row: the row plus `p`, `label` and `flags`; a row's own field of such a name gets `input_`."""
    for row, judgment in zip(rows, judgments, strict=True):
        kept = {f"input_{name}" if name in _RESULTS else name: value for name, value in row.items()}
        found = {"p": judgment.p, "label": judgment.label, "flags": list(judgment.flags)}
        yield orjson.dumps(kept | found, option=orjson.OPT_APPEND_NEWLINE)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise NotFound(f"There is no file {path}.", "Check the path.") from None
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.", "Name a file of JSON Lines.") from error


def _row(line: bytes) -> dict[str, Any] | None:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return row if isinstance(row, dict) else None


def pair_of(row: Mapping[str, Any]) -> Pair | None:
    """What a judge reads of a row; None where it is of neither form."""
    form = next((form for form in _FORMS if all(isinstance(row.get(name), str) for name in form)), None)
    if form is None:
        return None
    if len(form) == 2:
        return Pair(row["premise"], row["hypothesis"])
    passage = parse_passage(row["passage"])
    pair = templates.qa_pair(row["question"], row["answer"], passage)
    # Without headings the passage is the premise as it stands, as in the released script.
    return pair if passage.headings else Pair(passage.text, pair.hypothesis, pair.question, pair.answer, passage)
