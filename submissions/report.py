"""A report as a dictionary, as plain text, and as the error that refuses a file; the same on web, API and CLI."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from core.errors import Refused, TooLarge
from core.records import Place, Report

_WITHOUT_PLACE = ("rows", "matched", "unchanged")


def report_to_dict(report: Report) -> dict[str, Any]:
    """JSON-ready: accepted, counts, fatal, notes, places (row, kind, message, excerpt) and how many were left out."""
    return {
        "accepted": report.accepted,
        "counts": dict(report.counts),
        "fatal": list(report.fatal),
        "notes": list(report.notes),
        "places": [asdict(place) for place in report.places],
        "places_left_out": places_left_out(report),
    }


def places_left_out(report: Report) -> int:
    """How many places were counted but are not listed."""
    return sum(n for kind, n in report.counts.items() if kind not in _WITHOUT_PLACE) - len(report.places)


def report_to_text(report: Report, most_places: int = 50) -> str:
    """Plain text for people: verdict, reasons, notes, counts, then up to `most_places` places."""
    verdict = "The file was accepted." if report.accepted else "The file was refused whole; nothing of it was taken."
    lines = [verdict]
    lines += [f"  - {sentence}" for sentence in report.fatal]
    if report.notes:
        lines += ["", "Notes", *(f"  - {note}" for note in report.notes)]
    counts = {_title(kind): f"{n:,}" for kind, n in report.counts.items()}
    width = max(map(len, counts), default=0) + 2
    room = max(map(len, counts.values()), default=0)
    lines += ["", "Counts", *(f"  {title:<{width}}{n:>{room}}" for title, n in counts.items())]
    if report.places:
        lines += ["", "Places", *(f"  {_place(place)}" for place in report.places[:most_places])]
        more = max(len(report.places) - most_places, 0) + places_left_out(report)
        if more:
            lines.append(f"  … and {more:,} more")
    return "\n".join(lines) + "\n"


def refusal(report: Report) -> Refused:
    """The error for a report that is not accepted: its message holds all reasons, its places those of the report."""
    kind = TooLarge if report.counts.get("too_large") else Refused
    hint = "Mend the file and send it again; the report names the places." if report.places else ""
    return kind(" ".join(report.fatal), hint, report.places)


def _title(kind: str) -> str:
    return kind.replace("_", " ")


def _place(place: Place) -> str:
    where = f"row {place.row:,}" if place.row is not None else "file"
    text = f"{where}, {_title(place.kind)}: {place.message}"
    return f"{text}  [{place.excerpt}]" if place.excerpt else text
