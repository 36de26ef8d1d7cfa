"""The frame of the board's pages: the same header, footer and tab titles as on the other pages, for who looks."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest

from core.tracks import EDITING, QA
from leaderboard.pages import PAGES
from leaderboard.pages.board_page import PATHS
from leaderboard.pages.ways import COMPARISONS, CORRELATIONS, EXAMPLES
from server.bootstrap import Services
from tests.live_server import serving
from tests.small_benchmark import add_benchmark
from tests.web_client import token


@pytest.fixture
def client(services: Services, tmp_path) -> Iterator[httpx.Client]:
    add_benchmark(services, tmp_path / "files")
    with serving(services) as url, httpx.Client(base_url=url, timeout=60) as opened:
        yield opened


def part(page: str, tag: str, name: str) -> str:
    found = re.search(rf'<{tag} class="{name}".*?</{tag}>', page, re.DOTALL)
    assert found, name
    return re.sub(r' aria-current="(page|true)"|\s+', " ", found[0])


def test_every_page_has_one_header_and_one_footer(client: httpx.Client) -> None:
    """Only the ways to the board's pages differ: those of the editing track lead to its own."""
    at = {path: client.get(path).text for path in ("/", "/docs", *(f"/leaderboard/{path}" for path in PAGES))}
    ways = re.compile(r"<a [^>]*data-board>[^<]*</a>")
    for name, tag in (("aqa-top", "header"), ("aqa-foot", "footer")):
        shown = {ways.sub("", part(page, tag, name)) for page in at.values()}
        assert len({re.sub(r"\s+", "", header) for header in shown}) == 1
        assert all(page.count(f'class="{name}"') == 1 for page in at.values())
    for path, page in at.items():
        track = EDITING if path.startswith("/leaderboard/editing") else QA
        own = [PATHS[track], COMPARISONS[track], EXAMPLES[track], *([CORRELATIONS[QA]] if track == QA else [])]
        found = re.findall(r'<a href="([^"]*)"[^>]*data-board>', page)
        assert sorted(found) == sorted([*own, "/leaderboard/history"]), path


def test_tabs_are_named_alike(client: httpx.Client) -> None:
    for path, name in PAGES.items():
        page = client.get(f"/leaderboard/{path}").text
        assert re.search(r"<title>(.*?)</title>", page)[1] == f"{name} · AQA Leaderboard"
    assert "<title>Docs · AQA Leaderboard</title>" in client.get("/docs").text


def test_the_header_marks_where_one_is(client: httpx.Client) -> None:
    for path in (
        "/docs",
        "/leaderboard/",
        "/leaderboard/compare",
        "/leaderboard/editing",
        "/leaderboard/editing-compare",
    ):
        current = re.findall(r'<a href="([^"]*)"[^>]*aria-current="page"', client.get(path).text)
        assert current == [path]


def test_the_header_knows_who_looks_and_signs_out_from_the_board(client: httpx.Client, services: Services) -> None:
    page = client.get("/leaderboard/").text
    assert "Sign in" in part(page, "header", "aqa-top")
    csrf = re.search(r'name="csrf" value="([^"]+)"', client.get("/sign-in").text)[1]
    client.post("/sign-in", data={"csrf": csrf, "token": token(services, "<b>Team</b>")})
    answer = client.get("/leaderboard/examples")
    header = part(answer.text, "header", "aqa-top")
    assert "&lt;b&gt;Team&lt;/b&gt;" in header
    assert "<b>Team</b>" not in answer.text
    assert answer.headers["cache-control"] == "no-store"
    csrf = re.search(r'name="csrf" value="([^"]+)"', header)[1]
    left = client.post("/sign-out", data={"csrf": csrf})
    assert left.status_code == 303
    assert "Sign in" in part(client.get("/leaderboard/").text, "header", "aqa-top")


def test_only_pages_are_framed(client: httpx.Client) -> None:
    config = client.get("/leaderboard/config")
    assert config.headers["content-type"] == "application/json"
    assert "aqa-top" not in config.text


def test_what_the_address_names_may_be_kept_and_the_font_is_ours(client: httpx.Client) -> None:
    page = client.get("/leaderboard/").text
    styles = re.findall(r'href="(/static/theme/[^"]+\.(?:css[^"]*|woff2))"', page)
    assert len(styles) == 3
    for address in styles:
        found = client.get(address)
        assert found.status_code == 200
        assert "immutable" in found.headers["cache-control"]
    assert client.get(styles[0]).content[:4] == b"wOF2"


def test_a_link_preview_shows_the_product_and_nothing_of_its_framework(client: httpx.Client) -> None:
    head = client.get("/leaderboard/").text.partition("</head>")[0]
    assert re.findall(r'<meta name="description" content="([^"]*)"', head)[0].startswith("Attributed question")
    assert not re.search(r'og:|twitter:|rel="manifest"', head)


def test_the_frameworks_own_files_are_fetched_once(client: httpx.Client) -> None:
    page = client.get("/leaderboard/").text
    script = re.search(r'src="\./(assets/index-[^"]+\.js)"', page)[1]
    assert "immutable" in client.get(f"/leaderboard/{script}").headers["cache-control"]
    assert "immutable" not in client.get("/leaderboard/config").headers.get("cache-control", "")


def test_without_scripts_the_board_says_where_its_numbers_are(client: httpx.Client) -> None:
    assert "/api/v1/leaderboard/download" in client.get("/leaderboard/").text.partition("<noscript>")[2]


def test_an_unknown_address_below_the_board_is_told_by_the_site(client: httpx.Client) -> None:
    answer = client.get("/leaderboard/<script>nothing", headers={"Accept": "text/html,*/*"})
    assert (answer.status_code, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "There is nothing at this address." in answer.text
    headers = (part(page, "header", "aqa-top") for page in (answer.text, client.get("/docs").text))
    assert len({re.sub(r"\s+", "", header) for header in headers}) == 1
    assert "<script>nothing" not in answer.text
    assert answer.headers["content-security-policy"] == client.get("/docs").headers["content-security-policy"]
    assert client.get("/leaderboard/nothing", headers={"Accept": "application/json"}).json() == {"detail": "Not Found"}


def test_the_board_takes_no_files(client: httpx.Client) -> None:
    for path in ("upload", "upload_progress", "upload/"):
        answer = client.post(f"/leaderboard/gradio_api/{path}", files={"files": ("a.txt", b"x")})
        assert (answer.status_code, answer.text) == (404, "The board takes no files.")


@pytest.mark.parametrize("page", [page for page in PAGES if page])
def test_a_page_has_one_address_and_answers_head(client: httpx.Client, page: str) -> None:
    moved = client.get(f"/leaderboard/{page}/?benchmark=small&q=%2F")
    assert (moved.status_code, moved.headers["location"]) == (308, f"/leaderboard/{page}?benchmark=small&q=%2F")
    head = client.head(f"/leaderboard/{page}")
    assert (head.status_code, head.content) == (200, b"")


def test_a_slash_leads_nowhere_else(client: httpx.Client) -> None:
    assert client.get("/leaderboard//evil.example/").headers["location"] == "/leaderboard//evil.example"
    assert "\n" not in client.get("/leaderboard/a%0d%0aSet-Cookie:x/").headers["location"]
