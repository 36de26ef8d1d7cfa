"""Corpus building and lookup; the right values of the *Attributions* rows of the hard inputs."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path

import pytest

from core import corpus as corpora
from core.corpus import Corpus, parse_contents
from core.errors import NotFound, Refused

WIKI = "http://en.wikipedia.org/wiki/"


def write(path: Path, rows: list[tuple[str, str]]) -> Path:
    path.write_text("".join(json.dumps({"id": i, "contents": c}, ensure_ascii=False) + "\n" for i, c in rows), "utf-8")
    return path


def made(tmp_path: Path, ids: list[str]) -> Corpus:
    shard = write(tmp_path / "c.jsonl", [(i, f"« T » « T » text of {i}") for i in ids])
    digest, _ = corpora.build([shard], tmp_path)
    return Corpus(tmp_path / f"{digest}.sqlite")


@pytest.mark.parametrize(
    ("contents", "parts"),
    [
        ("« Oslo » « Oslo, History » It burnt.", ("Oslo", "Oslo, History", "It burnt.")),
        ("« Oslo » « Oslo » A line\nand « another » one.", ("Oslo", "Oslo", "A line\nand « another » one.")),
        ("« T » « Tiger » text", ("T", "Tiger", "text")),
        ("« A » B » « A » B, Part » text", ("A » B", "A » B, Part", "text")),
        ("« A » « B » « A » « B » text", ("A » « B", "A » « B", "text")),
        ("« T » « T » ", ("T", "T", "")),
        ("« T » « T »", ("T", "T", "")),
        ("Title: T text", None),
        ("« T » text without headings", None),
    ],
)
def test_contents_are_taken_apart(contents: str, parts: tuple[str, str, str] | None) -> None:
    assert parse_contents(contents) == parts


def test_exact_ids_go_before_alike_ones(tmp_path: Path) -> None:
    ids = [f"{WIKI}S%C3%A3o_Paulo#S#0", f"{WIKI}A_B#A#0", f"{WIKI}A B#A#0", f"{WIKI}100%25#P#0"]
    corpus = made(tmp_path, ids)
    asked = {
        ids[0]: ids[0],
        f"{WIKI}São_Paulo#S#0": ids[0],
        f"{WIKI}Sa\u0303o Paulo#S#0": ids[0],
        f"{WIKI}S%25C3%25A3o_Paulo#S#0": None,
        ids[1]: ids[1],
        ids[2]: ids[2],
        f"{WIKI}A%20B#A#0": None,
        ids[3]: ids[3],
        f"{WIKI}A_B#A#0#": None,
        "another corpus's id": None,
        "": None,
    }
    assert corpus.resolve(list(asked)) == asked


def test_passages_come_by_id_and_unknown_ones_are_left_out(tmp_path: Path) -> None:
    corpus = made(tmp_path, [f"id-{n}" for n in range(1_000)])
    found = corpus.passages(["id-7", "id-999", "nothing"])
    assert {key: passage.text for key, passage in found.items()} == {
        "id-7": "text of id-7",
        "id-999": "text of id-999",
    }
    assert corpus.size == 1_000
    assert [p.id for p in corpus.scan()] == [f"id-{n}" for n in range(1_000)]


def test_the_same_passages_give_the_same_digest_in_any_packing(tmp_path: Path) -> None:
    rows = [(f"id-{n}", f"« T » « T » text {n}") for n in range(20)]
    plain = write(tmp_path / "a.jsonl", rows)
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(plain.read_bytes()))
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as archive:
        archive.write(plain, "shards/a.jsonl")
    digests = {corpora.build([p], tmp_path / "out")[0] for p in (plain, tmp_path / "b.jsonl.gz", tmp_path / "c.zip")}
    assert len(digests) == 1


def test_a_repeated_passage_is_kept_once(tmp_path: Path) -> None:
    one = write(tmp_path / "1.jsonl", [("a", "« T » « T » x"), ("b", "« T » « T » y")])
    two = write(tmp_path / "2.jsonl", [("b", "« T » « T » y"), ("c", "« T » « T » z")])
    digest, size = corpora.build([one, two], tmp_path)
    assert size == 3
    assert [p.id for p in Corpus(tmp_path / f"{digest}.sqlite").scan()] == ["a", "b", "c"]


def test_one_id_with_two_texts_is_refused(tmp_path: Path) -> None:
    shards = [write(tmp_path / f"{n}.jsonl", [("a", f"« T » « T » {n}")]) for n in (1, 2)]
    with pytest.raises(Refused, match="one id with different texts") as raised:
        corpora.build(shards, tmp_path / "out")
    assert [place.excerpt for place in raised.value.places] == ["a"]
    assert list((tmp_path / "out").iterdir()) == [], "nothing is left behind"


@pytest.mark.parametrize(
    "line", [b"not json", b'{"id": 7, "contents": "x"}', b'{"id": "a"}', b'{"id": "a", "contents": "no form"}', b"[]"]
)
def test_bad_lines_are_named(tmp_path: Path, line: bytes) -> None:
    good = b'{"id": "g", "contents": "\xc2\xab T \xc2\xbb \xc2\xab T \xc2\xbb x"}\n'
    shard = tmp_path / "c.jsonl"
    shard.write_bytes(good + line + b"\n" + good)
    with pytest.raises(Refused) as raised:
        corpora.build([shard], tmp_path)
    assert [place.row for place in raised.value.places] == [2]


def test_an_empty_corpus_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="no passage"):
        made(tmp_path, [])


def test_a_lost_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="missing"):
        Corpus(tmp_path / "gone.sqlite")
