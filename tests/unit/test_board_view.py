"""What a view shows of a board: filters, order with n/a last, the URL, and HTML that runs nothing."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import pytest

from leaderboard.arrange import arrange, places, simplest
from leaderboard.pages.board_html import board_html, sort_of
from leaderboard.pages.render import percent, place
from leaderboard.records import Board, Cell, Column, Entry, Group, Row, Summary
from leaderboard.search import matcher
from leaderboard.view import View
from scorer.statistics.ranks import Rank

PROBE = "<img src=x onerror=alert(1)>\"'</td>"


def entry(at: int, **changes: object) -> Entry:
    made = Entry(
        at, f"System {at}", "Team A", "retrieve-then-read", "64 exemplars", "", (), False, None, False,
        f"s{at}", 1, 1.0, at, "judge:x@1", None,
    )  # fmt: skip
    return replace(made, **changes)


def board(*values: float | None, **changes: object) -> Board:
    column = Column("em", "em", "EM", "Exact match.", "em|v:1")
    made = tuple(
        Row(
            entry(at, **changes),
            {"em": Cell(v, 10, v, v, 0.0, "bca") if v is not None else Cell(None, reason="Nothing to measure.")},
            Rank(1, len(values), len(values)) if v is not None else None,
        )
        for at, v in enumerate(values)
    )
    group = Group("retrieve-then-read", "Retrieve-then-read", made, Summary(len(made), {"em": _NO_SPREAD}, None, 0))
    return Board("b", "B", "", "b@0", 10, 5, 5, 0.95, False, (column,), "em", (group,) if made else ())


class _Spread:
    n, best, median = 0, None, None


_NO_SPREAD = _Spread()


def order(view: View, found: Board) -> list[float | None]:
    return [row.metrics["em"].value for section in arrange(found, view).sections for row in section.rows]


def test_what_has_no_number_comes_last_both_ways() -> None:
    found = board(None, 0.0, 0.5, None, 0.2)
    assert order(View("b", sort="em"), found) == [0.5, 0.2, 0.0, None, None]
    assert order(View("b", sort="em", ascending=True), found) == [0.0, 0.2, 0.5, None, None]


def test_sorting_by_name_goes_both_ways() -> None:
    found = board(0.1, 0.2, 0.3)
    assert order(View("b", sort="system", ascending=True), found) == [0.1, 0.2, 0.3]
    assert order(View("b", sort="system"), found) == [0.3, 0.2, 0.1]


def test_places_tell_a_browser_what_is_equal_and_what_has_no_number() -> None:
    found = board(None, 0.5, 0.2, 0.5)
    assert places(found, arrange(found, View("b"))) == {"system": [0, 1, 2, 3], "em": [None, 1, 0, 1]}
    assert places(found, arrange(found, View("b", q='"system 2"'))) == {"system": [0], "em": [0]}


def test_names_go_both_ways_where_nothing_is_ranked() -> None:
    found = replace(board(0.1, 0.2), rank_by=None)
    assert sort_of(found, View("b")) == ("system", True)
    assert simplest(found, View("b", sort="system", ascending=True)) == View("b")
    down = View("b", sort="system")
    assert simplest(found, down) == down
    assert order(down, found) == [0.2, 0.1]


@pytest.mark.parametrize(
    "query, matches",
    [
        ("", True), ("system", True), ("SYSTEM 7", True), ("nothing", False), ("team:a", True), ("team:b", False),
        ('team:"team a"', True), ("arch:retrieve", True), ("arch:post-hoc", False), ("supervision:64", True),
        ("system arch:post-hoc", False), ("team:a 64", True), ("odd:thing", False), ("team:", True), ('"', True),
    ],
)  # fmt: skip
def test_search(query: str, matches: bool) -> None:
    assert matcher(query)(entry(7)) is matches


def test_filters_do_not_change_ranks() -> None:
    found = board(0.1, 0.2, 0.3)
    kept = arrange(found, View("b", q='"system 1"')).sections[0]
    assert [row.rank for row in kept.rows] == [Rank(1, 3, 3)]
    assert kept.summary is None


def test_reference_filter() -> None:
    found = board(0.1, reference=True)
    assert arrange(found, View("b", references="hide")).shown == 0
    assert arrange(found, View("b", references="only")).shown == 1


@pytest.mark.parametrize(
    "view",
    [
        View(),
        View("demo", "team:a b&c=d", "em", True, ("em", "ais"), ("other",), "64 exemplars", "hide", "autoais", True),
        View("demo", q=PROBE),
    ],
)
def test_the_url_holds_the_whole_state(view: View) -> None:
    from urllib.parse import parse_qsl

    assert View.from_query(dict(parse_qsl(view.query().removeprefix("?")))) == view


def test_a_query_that_means_nothing_is_the_default() -> None:
    assert View.from_query({"references": "junk", "other": "1", "ascending": "yes"}) == View()


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, list[str]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, [name for name, _ in attrs]))


def test_nothing_that_a_team_wrote_becomes_markup() -> None:
    found = board(0.5, None, system=PROBE, team=PROBE, supervision=PROBE, description=PROBE)
    tags = _Tags()
    tags.feed(board_html(found, View("b", q="")))
    assert not [tag for tag, names in tags.seen if tag in ("img", "script") or any(n.startswith("on") for n in names)]
    assert "&lt;img src=x" in board_html(found, View("b"))


def test_what_the_search_box_holds_is_escaped() -> None:
    html = board_html(board(0.5), View("b", q=PROBE))
    assert "<img" not in html
    assert "No system matches" in html


def test_reasons_are_numbered_notes() -> None:
    html = board_html(board(0.5, None, None), View("b"))
    assert html.count('href="#note-1"') == 2
    assert '<li id="note-1" value="1">Nothing to measure.</li>' in html


def test_an_empty_board_says_what_to_do() -> None:
    html = board_html(board(), View("b"))
    assert "No system is published" in html
    assert "/submit" in html


@pytest.mark.parametrize(
    "track, told, apart",
    [("qa", "answers 50.0 %<", "revises"), ("editing", "revises 50.0 % of the passages<", "question")],
)
def test_a_board_speaks_of_what_its_track_is_about(track: str, told: str, apart: str) -> None:
    html = board_html(replace(board(0.5, coverage=0.5), track=track), View("b"))
    assert told in html
    assert apart not in html


@pytest.mark.parametrize(
    "value, shown", [(0.45678, "45.7"), (0.0, "0.0"), (1.0, "100.0"), (None, "n/a"), (-0.0001, "0.0")]
)
def test_numbers(value: float | None, shown: str) -> None:
    assert percent(value) == shown


def test_rank_intervals_show_ties() -> None:
    assert (place(Rank(2, 5, 9)), place(Rank(1, 1, 9)), place(None)) == ("2–5", "1", "n/a")


def test_sizes_filter_and_sort_and_what_is_not_said_comes_last() -> None:
    found = board(0.1, 0.2, 0.3, 0.4)
    sizes = (0.77, 11.0, None, 1.0)
    rows = tuple(replace(row, entry=replace(row.entry, size=size)) for row, size in zip(found.rows, sizes, strict=True))
    found = replace(found, groups=(replace(found.groups[0], rows=rows),))
    assert order(View("b", size="under-1"), found) == [0.1]
    assert order(View("b", size="1-10"), found) == [0.4]
    assert order(View("b", size="10-100"), found) == [0.2]
    assert order(View("b", size="unknown"), found) == [0.3]
    assert order(View("b", sort="size"), found) == [0.2, 0.4, 0.1, 0.3]
    assert order(View("b", sort="size", ascending=True), found) == [0.1, 0.4, 0.2, 0.3]
    assert "11 B" in board_html(found, View("b"))
    assert "770 M" in board_html(found, View("b"))


def test_a_size_that_there_is_not_is_left_aside() -> None:
    assert View.from_query({"size": "huge"}).size == ""
    assert [View.from_query({"numbers": each}).numbers for each in ("auto", "human", "odd")] == ["auto", "human", ""]
    assert View.from_query(dict([View("b", size="1-10").query()[1:].split("&")[1].split("=")])).size == "1-10"
