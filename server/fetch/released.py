"""The paper's released ratings from its public repository."""

from __future__ import annotations

import re
from pathlib import Path

import httpx

from core.errors import Refused, Unavailable
from server.fetch.ranged import Progress, fetch, look_up

LISTING = "https://api.github.com/repos/google-research-datasets/Attributed-QA/contents/"
"""The files of the repository that AQA names, as GitHub's API lists them."""

_NAME = re.compile(r"ratings(\.csv)?(\.zip|\.gz|\.csv)", re.IGNORECASE)


def fetch_released(folder: Path, progress: Progress = lambda done, total: None, listing: str = "") -> Path:
    """Bring the file to `folder`; its address is looked up in the repository's listing.

    Raises `Unavailable` where the repository cannot be reached, `Refused` where it holds no such file.
    """
    name, url = _address(listing or LISTING)
    target = folder / name
    fetch(look_up(url), target, progress)
    return target


def _address(listing: str) -> tuple[str, str]:
    try:
        answer = httpx.get(listing, follow_redirects=True, timeout=30.0)
        answer.raise_for_status()
        files = answer.json()
    except (httpx.HTTPError, ValueError) as error:
        raise Unavailable(
            f"The paper's repository cannot be read: {error}",
            "Fetch ratings.csv from github.com/google-research-datasets/Attributed-QA and give its path.",
        ) from error
    named = [f for f in files if isinstance(f, dict) and _NAME.fullmatch(str(f.get("name"))) and f.get("download_url")]
    if not named:
        raise Refused("The paper's repository holds no file of ratings any more.", f"Looked at: {listing}")
    return str(named[0]["name"]), str(named[0]["download_url"])
