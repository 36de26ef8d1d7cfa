"""BibTeX of a system's entry and of the board, with everything a reader needs to find it again."""

from __future__ import annotations

import re

from leaderboard.records import Board, Entry

_SPECIAL = re.compile(r"([&%$#_{}])")
PAPER = """@misc{bohnet2022attributed,
  title = {Attributed Question Answering: Evaluation and Modeling for Attributed Large Language Models},
  author = {Bohnet, Bernd and Tran, Vinh Q. and Verga, Pat and Aharoni, Roee and Andor, Daniel and others},
  year = {2022},
  eprint = {2212.08037},
  archivePrefix = {arXiv}
}"""


def system_bibtex(board: Board, entry: Entry, url: str) -> str:
    """One entry: the system's version on the benchmark."""
    key = re.sub(r"[^a-z0-9]+", "-", f"{entry.team} {entry.system} v{entry.version}".lower()).strip("-")
    year = f"  year = {{{entry.published_at.year}}},\n" if entry.published_at else ""
    where = f"AQA Leaderboard, submission {entry.submission}, benchmark {_tex(board.signature_name)}"
    return (
        f"@misc{{{key},\n"
        f"  title = {{{_tex(entry.system)}, version {entry.version}, on {_tex(board.title)}}},\n"
        f"  author = {{{{{_tex(entry.team)}}}}},\n{year}"
        f"  howpublished = {{{where}}},\n"
        f"  url = {{{url}}}\n}}"
    )


def board_bibtex(board: Board, url: str) -> str:
    """The board and the paper whose task and metrics it follows."""
    key = re.sub(r"[^a-z0-9]+", "-", f"aqa-leaderboard-{board.benchmark}".lower())
    return (
        f"@misc{{{key},\n"
        f"  title = {{AQA Leaderboard: {_tex(board.title)}}},\n"
        f"  howpublished = {{Benchmark {_tex(board.signature_name)}, {len(board.rows)} systems}},\n"
        f"  url = {{{url}}}\n}}\n\n{PAPER}"
    )


def _tex(text: str) -> str:
    """Text in which TeX finds nothing of its own; line breaks become spaces."""
    plain = " ".join(text.split()).replace("\\", "\\textbackslash ").replace("~", "\\textasciitilde ")
    return _SPECIAL.sub(r"\\\1", plain.replace("^", "\\textasciicircum "))
