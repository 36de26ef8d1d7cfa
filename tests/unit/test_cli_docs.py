"""docs/cli.md and docs/benchmarks.md know every command, every option, every exit code and every architecture."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from core.architectures import ARCHITECTURES
from server.cli import app
from server.fetch import nq_open

DOCS = Path(__file__).parents[2] / "docs"
CLI = (DOCS / "cli.md").read_text(encoding="utf-8")
BENCHMARKS = (DOCS / "benchmarks.md").read_text(encoding="utf-8")


def commands(node: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    children = getattr(node, "commands", {})
    for name, child in children.items():
        yield from commands(child, (*path, name))
    if not children:
        yield path, node


ALL = dict(commands(typer.main.get_command(app)))


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_command_is_documented_with_its_options(path: tuple[str, ...]) -> None:
    name = "aqa " + " ".join(path)
    assert re.search(rf"`{re.escape(name)}[` ]", CLI), name
    assert (ALL[path].help or "").strip()
    page = BENCHMARKS if path[0] == "benchmark" else CLI
    for parameter in ALL[path].params:
        if parameter.name != "help" and parameter.opts[0].startswith("--"):
            spellings = [parameter.opts[0], *parameter.secondary_opts]
            assert any(re.search(rf"{option}(?![\w-])", page) for option in spellings), f"{name} {spellings}"


def test_no_command_is_documented_that_is_not_there() -> None:
    known = {" ".join(path) for path in ALL}
    groups = {path[0] for path in ALL if len(path) == 2}
    for page in DOCS.glob("*.md"):
        for found in re.findall(r"(?:^|`)aqa ([a-z]+(?: [a-z-]+)?)", page.read_text(encoding="utf-8"), re.MULTILINE):
            first = found.split()[0]
            if first == "judge":  # `aqa judge KEY` stands for `aqa judge run KEY`
                continue
            assert (found if first in groups else first) in known, f"{page.name}: aqa {found}"


def test_architectures_exit_codes_and_sources() -> None:
    for key in ARCHITECTURES:
        assert f"`{key}`" in CLI
    for code in range(4):
        assert f"| {code} |" in CLI
    for told in (nq_open.CORPUS_URL, nq_open.DATASET, f"{nq_open.QUESTIONS:,}"):
        assert told in BENCHMARKS
