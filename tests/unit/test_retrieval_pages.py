"""Addresses as models write them, and the pages they mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from systems.retrieval.pages import canonical_page, open_pages
from systems.retrieval.store import IndexStore
from tests.small_corpus import make_corpus


@pytest.mark.parametrize(
    "address",
    [
        "http://en.wikipedia.org/wiki/São_Paulo",
        "https://en.wikipedia.org/wiki/S%C3%A3o_Paulo",
        "https://en.m.wikipedia.org/wiki/S%C3%A3o_Paulo#History",
        "https://en.wikipedia.org/wiki/sa\u0303o_Paulo?oldid=7",
        "//en.wikipedia.org/wiki/São Paulo/",
        "en.wikipedia.org/w/index.php?title=S%C3%A3o_Paulo&action=edit",
        " EN.Wikipedia.org/wiki/São__Paulo ",
        "São Paulo",
    ],
)
def test_one_page_has_one_form(address: str) -> None:
    assert canonical_page(address) == "en.wikipedia.org/wiki/São Paulo"


@pytest.mark.parametrize(
    ("address", "page"),
    [
        ("https://en.wikipedia.org/wiki/What_Is_Love?", "en.wikipedia.org/wiki/What Is Love?"),
        ("https://de.wikipedia.org/wiki/Oslo", "de.wikipedia.org/wiki/Oslo"),
        ("https://example.org/a/b?c=d#e", "example.org/a/b"),
        ("https://en.wikipedia.org/wiki/100%25_Wolf", "en.wikipedia.org/wiki/100% Wolf"),
        ("https://en.wikipedia.org/wiki/AC/DC", "en.wikipedia.org/wiki/AC/DC"),
        ("https://en.wikipedia.org/wiki/", "en.wikipedia.org/wiki"),
    ],
)  # fmt: skip
def test_other_pages(address: str, page: str) -> None:
    assert canonical_page(address) == page


def test_pages_of_a_corpus(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path)
    pages = open_pages(IndexStore(tmp_path / "indexes"), corpus)
    oslo = pages.rows("https://en.m.wikipedia.org/wiki/oslo")
    assert [corpus.at([row])[row].headings for row in oslo] == ["Oslo", "Oslo, History"]
    assert pages.first(oslo).headings == "Oslo"
    assert len(pages.rows("https://en.wikipedia.org/wiki/São_Paulo")) == 1
    assert pages.rows("https://en.wikipedia.org/wiki/Bergen") == []
    assert pages.rows("https://de.wikipedia.org/wiki/Oslo") == []
    assert pages.rows("nonsense ]][[") == []
