"""The attribution report of a row: a JSON list of snippets, or columns evidence_1, source_1, query_1 and so on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from core.editing import LARGEST_REPORT, LONGEST_TEXT, Snippet
from submissions.formats import Findings, Limits, excerpt
from submissions.formats.cells import check_cell
from submissions.formats.findings import BadFile
from submissions.formats.json_decoder import Decoder, explain

NUMBERED = tuple(f"{part}_{at}" for at in range(1, LARGEST_REPORT + 1) for part in ("evidence", "source", "query"))
_SOURCES = ("source", "url", "id")
_MEND = 'Write a list of at most 5 snippets: [{"text": "…", "source": "…", "query": "…"}].'


class Reports:
    """Reads the reports of a file's rows and reports what cannot be taken."""

    def __init__(self, limits: Limits, findings: Findings) -> None:
        self._limits, self._findings = limits, findings
        self._decoder = Decoder()
        self._problems = 0

    def read(self, row: int, cells: Mapping[str, str | None]) -> tuple[Snippet, ...]:
        """The snippets of a row in their order; snippets without text stay, and those and no snippets are warned of."""
        text = cells.get("report") or ""
        problems = self._problems
        snippets = self._listed(row, text) if text.strip() else self._numbered(cells)
        if self._problems == problems and not any(snippet.text.strip() for snippet in snippets):
            message = "The report is empty, so nothing is attributable."
            self._findings.warn("empty_report", message, row, excerpt(cells.get("revised") or ""))
        if len(snippets) > LARGEST_REPORT:
            message = f"The report holds {len(snippets)} snippets; at most {LARGEST_REPORT} are allowed."
            self._findings.problem("too_many_snippets", message, row, excerpt(text))
        for number, snippet in enumerate(snippets, start=1):
            if len(snippet.text) > LONGEST_TEXT:
                message = f"Snippet {number} has more than {LONGEST_TEXT:,} characters."
                self._findings.problem("overlong_field", message, row, excerpt(snippet.text))
            elif not snippet.text.strip():
                message = f"Snippet {number} of the report has no text; nothing can be supported by it."
                self._findings.warn("empty_snippet", message, row, excerpt(snippet.source))
        return snippets

    def _numbered(self, cells: Mapping[str, str | None]) -> tuple[Snippet, ...]:
        parts = [
            Snippet(*(cells.get(f"{part}_{at}") or "" for part in ("evidence", "source", "query")))
            for at in range(1, LARGEST_REPORT + 1)
        ]
        return tuple(each for each in parts if each.text.strip() or each.source.strip())

    def _listed(self, row: int, text: str) -> tuple[Snippet, ...]:
        try:
            value = self._decoder.line(text)
        except json.JSONDecodeError as error:
            return self._bad(row, f"In the report: {explain(error)} {_MEND}", text)
        except BadFile as error:
            return self._bad(row, f"The report cannot be read. {error.message}", text)
        for _, message in self._decoder.faults:
            self._bad(row, f"The report cannot be taken. {message}", text)
        if value is None or self._decoder.faults:
            return ()
        if not isinstance(value, list):
            return self._bad(row, f"The report is {_kind(value)}. {_MEND}", text)
        found = [self._snippet(row, number, each, text) for number, each in enumerate(value, start=1)]
        return tuple(each for each in found if each is not None)

    def _snippet(self, row: int, number: int, value: Any, start: str) -> Snippet | None:
        if not isinstance(value, dict):
            self._bad(row, f"Snippet {number} of the report is {_kind(value)}, not an object. {_MEND}", start)
            return None
        if "text" not in value:
            self._bad(row, f"Snippet {number} of the report has no “text”. {_MEND}", start)
            return None
        texts: dict[str, str] = {}
        for name in ("text", *_SOURCES, "query"):
            content = value.get(name)
            if isinstance(content, dict | list):
                self._bad(row, f"“{name}” of snippet {number} is {_kind(content)} where a text is needed.", start)
                return None
            text = ("true" if content else "false") if isinstance(content, bool) else content or ""
            if not check_cell(row, f"report, snippet {number}: {name}", text, start, self._limits, self._findings):
                self._problems += 1
                return None
            texts[name] = text
        source = next((texts[name] for name in _SOURCES if texts[name].strip()), "")
        return Snippet(texts["text"], source, texts["query"])

    def _bad(self, row: int, message: str, start: str) -> tuple[Snippet, ...]:
        self._problems += 1
        self._findings.problem("bad_report", message, row, excerpt(start))
        return ()


def _kind(value: Any) -> str:
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, list) else "a single value"
