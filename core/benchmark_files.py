"""Reading a benchmark's own files: questions or passages to edit, the rated subset, exemplars."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeGuard

import orjson

from core.editing import LONGEST_TEXT, MOST_SENTENCES, sentence_ends
from core.errors import InvalidInput, Refused
from core.records import Place, Question
from core.text import canonical_question

_LONGEST_ID, _LONGEST_TYPE = 200, 40  # what the database's columns hold


def read_questions(path: Path, rated: Path | None) -> list[Question]:
    """Questions JSONL and the rated subset (one id or question a line). Raises `Refused` naming the bad rows."""
    bad: list[Place] = []
    entries: list[tuple[str, str, tuple[str, ...], str | None]] = []
    seen_ids: set[str] = set()
    seen_questions: set[str] = set()
    for row, entry in _jsonl(path, bad):
        text, answers, kind = entry.get("question"), entry.get("answer"), entry.get("type")
        identifier = entry.get("id", str(len(entries)))
        if not isinstance(text, str) or not text.strip():
            bad.append(Place(row, "question", 'no text under "question"'))
        elif not _is_answers(answers) or not any(answer.strip() for answer in answers):
            bad.append(Place(row, "question", '"answer" is not a list of at least one text', text[:80]))
        elif "\0" in text + "".join(answers) + str(identifier) + str(kind):
            bad.append(Place(row, "question", "a text holds a NUL character", text[:80]))
        elif len(str(identifier)) > _LONGEST_ID or len(str(kind)) > _LONGEST_TYPE:
            limits = f"an id has at most {_LONGEST_ID} characters, a type {_LONGEST_TYPE}"
            bad.append(Place(row, "question", limits, text[:80]))
        elif not isinstance(identifier, str) or identifier in seen_ids:
            bad.append(
                Place(
                    row,
                    "question",
                    "the id is not text or not the only one of its kind",
                    str(identifier)[:80],
                )
            )
        elif canonical_question(text) in seen_questions:
            bad.append(Place(row, "question", "the question occurs twice", text[:80]))
        else:
            entries.append((identifier, text, tuple(answers), kind if isinstance(kind, str) else None))
            seen_ids.add(identifier)
            seen_questions.add(canonical_question(text))
    wanted = _read_rated(rated, entries, bad) if rated else None
    if not entries and not bad:
        bad.append(Place(None, "question", "the file holds no question"))
    _refuse_if(bad, path)
    return [
        Question(position, identifier, text, answers, wanted is None or identifier in wanted, kind)
        for position, (identifier, text, answers, kind) in enumerate(entries)
    ]


def read_passages(path: Path, rated: Path | None) -> list[Question]:
    """Passages JSONL of the editing track and the rated subset. Raises `Refused` naming the bad rows."""
    bad: list[Place] = []
    entries: list[tuple[str, str, tuple[str, ...], str | None]] = []
    seen: set[str] = set()
    for row, entry in _jsonl(path, bad):
        text, context, kind = entry.get("text"), entry.get("context"), entry.get("type")
        identifier, context = entry.get("id", str(len(entries))), [] if context is None else context
        fault = _fault_of_passage(text, context, kind, identifier)
        if fault is None and identifier in seen:
            fault = "the id is not the only one of its kind"
        if fault is not None:
            bad.append(Place(row, "passage", fault, str(text)[:80]))
        else:
            entries.append((identifier, str(text), tuple(context), kind if isinstance(kind, str) else None))
            seen.add(identifier)
    wanted = _read_rated(rated, entries, bad) if rated else None
    if not entries and not bad:
        bad.append(Place(None, "passage", "the file holds no passage"))
    _refuse_if(bad, path)
    return [
        Question(position, identifier, text, (), wanted is None or identifier in wanted, kind, context)
        for position, (identifier, text, context, kind) in enumerate(entries)
    ]


def _fault_of_passage(text: Any, context: Any, kind: Any, identifier: Any) -> str | None:
    if not isinstance(text, str) or not text.strip():
        return 'no text under "text"'
    if not isinstance(context, list) or not all(isinstance(turn, str) for turn in context):
        return '"context" is not a list of texts'
    if not isinstance(identifier, str) or not identifier.strip():
        return "the id is not text"
    if "\0" in text + "".join(context) + identifier + str(kind):
        return "a text holds a NUL character"
    if len(text) > LONGEST_TEXT:
        return f"the text has more than {LONGEST_TEXT:,} characters"
    if sentence_ends(text) > MOST_SENTENCES:
        return f"the text has more than {MOST_SENTENCES} sentences; part the passage"
    if len(identifier) > _LONGEST_ID or len(str(kind)) > _LONGEST_TYPE:
        return f"an id has at most {_LONGEST_ID} characters, a type {_LONGEST_TYPE}"
    return None


def read_exemplars(path: Path, questions: Sequence[Question]) -> list[tuple[str, list[str]]]:
    """Exemplars JSONL. Raises `Refused` if one is malformed or is itself evaluated."""
    evaluated = {canonical_question(question.text).casefold() for question in questions}
    bad: list[Place] = []
    exemplars: list[tuple[str, list[str]]] = []
    for row, entry in _jsonl(path, bad):
        text, answers = entry.get("question"), entry.get("answer")
        if not isinstance(text, str) or not _is_answers(answers):
            bad.append(Place(row, "exemplar", 'needs "question" and a list of texts under "answer"'))
        elif "\0" in text + "".join(answers):
            bad.append(Place(row, "exemplar", "a text holds a NUL character", text[:80]))
        elif canonical_question(text).casefold() in evaluated:
            bad.append(Place(row, "exemplar", "is one of the evaluated questions", text[:80]))
        else:
            exemplars.append((text, list(answers)))
    _refuse_if(bad, path)
    return exemplars


def _jsonl(path: Path, bad: list[Place]) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{path.name} cannot be read: {error.strerror}.", "Check the path.") from error
    for row, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            entry = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            bad.append(Place(row, "json", f"not JSON: {error}", line[:80].decode("utf-8", "replace")))
            continue
        if isinstance(entry, dict):
            yield row, entry
        else:
            bad.append(Place(row, "json", "not a JSON object", line[:80].decode("utf-8", "replace")))


def _is_answers(value: Any) -> TypeGuard[list[str]]:
    return isinstance(value, list) and bool(value) and all(isinstance(answer, str) for answer in value)


def _read_rated(
    path: Path, entries: Sequence[tuple[str, str, tuple[str, ...], str | None]], bad: list[Place]
) -> set[str]:
    ids = {identifier for identifier, *_ in entries}
    # A text that two passages share names neither.
    texts = Counter(canonical_question(text) for _, text, *_ in entries)
    by_text = {
        canonical: identifier for identifier, text, *_ in entries if texts[canonical := canonical_question(text)] == 1
    }
    rated: set[str] = set()
    try:
        lines = path.read_text("utf-8-sig").split("\n")
    except UnicodeDecodeError:
        bad.append(Place(None, "rated", f"{path.name} is not UTF-8"))
        return rated
    for row, raw in enumerate(lines, start=1):
        line = raw.strip()
        if not line:
            continue
        identifier = line if line in ids else by_text.get(canonical_question(line))
        if identifier is None:
            bad.append(Place(row, "rated", "is neither an id nor a question of the benchmark", line[:80]))
        else:
            rated.add(identifier)
    return rated


def _refuse_if(bad: list[Place], path: Path) -> None:
    if bad:
        where = "the file" if bad[0].row is None else f"row {bad[0].row}"
        raise Refused(
            f"{path.name} was refused: {len(bad)} bad rows, the first: {where}: {bad[0].message}.",
            "Mend the rows named; nothing was stored.",
            tuple(bad[:1000]),
        )
