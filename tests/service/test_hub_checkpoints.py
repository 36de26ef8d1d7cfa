"""Models of a Hub on a real socket: pinned, weighed, fetched, and every trouble told apart."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from core import hub_checkpoints
from core.errors import Forbidden, InvalidInput, NotFound, Refused, Unavailable
from core.hub_access import HubAccess, reaching_hub
from scorer.judges import checkpoints
from tests.fake_hub import FakeHub, serving

GOOD: dict[str, bytes] = {
    "config.json": b'{"model_type": "t5"}', "model.safetensors": b"w" * 40, "tokenizer.json": b"{}",
    "pytorch_model.bin": b"p" * 99, "code.py": b"print()",
}  # fmt: skip


@pytest.fixture
def hub(quiet_client: None) -> Iterator[FakeHub]:
    scripted = FakeHub()
    scripted.model("lab/good", files=dict(GOOD))
    with serving(scripted), reaching_hub(HubAccess(scripted.url, False)):
        yield scripted


def test_a_model_is_pinned_weighed_and_fetched_without_pickles_and_code(hub: FakeHub) -> None:
    found = hub_checkpoints.resolve("lab/good", None)
    assert (len(found.revision), found.size, found.folder) == (40, 20 + 40 + 2, None)
    assert not [path for _, path in hub.asked if "/resolve/" in path], "nothing large is fetched to pin it"
    folder = hub_checkpoints.fetch(found)
    assert {path.name for path in folder.iterdir()} == {"config.json", "model.safetensors", "tokenizer.json"}
    assert hub_checkpoints.resolve("lab/good", found.revision[:40]) == found


def test_its_settings_alone(hub: FakeHub) -> None:
    """A judge looks at them before weights are fetched, at the Hub that our settings name."""
    found = hub_checkpoints.resolve("lab/good", "main")
    assert checkpoints.read_config(found).model_type == "t5"
    fetched = {path.rsplit("/", 1)[1] for _, path in hub.asked if "/resolve/" in path}
    assert fetched == {"config.json"}


def test_troubles_are_told_apart(hub: FakeHub) -> None:
    hub.model("lab/gated", files=dict(GOOD), gated=True)
    hub.model("lab/private", files=dict(GOOD), private=True)
    hub.model("lab/pickled", files={name: data for name, data in GOOD.items() if "safetensors" not in name})
    for name, revision, error, words in [
        ("lab/gated", None, Forbidden, "gated"),
        ("lab/private", None, NotFound, "private"),
        ("lab/none", None, NotFound, "no model lab/none"),
        ("lab/good", "nowhere", NotFound, "no revision"),
        ("lab/pickled", None, Refused, "no safetensors"),
        ("a/b/c", None, InvalidInput, "no name of a model"),
    ]:
        with pytest.raises(error, match=words) as caught:
            hub_checkpoints.fetch(hub_checkpoints.resolve(name, revision))
        assert caught.value.hint


def test_a_hub_that_fails_is_no_matter_where_the_named_commit_is_here_already(hub: FakeHub) -> None:
    with pytest.raises(Unavailable):
        hub.broken = 99
        hub_checkpoints.resolve("lab/good", None)
    hub.broken = 0
    folder = hub_checkpoints.fetch(hub_checkpoints.resolve("lab/good", None))
    hub.broken = 99
    again = hub_checkpoints.resolve("lab/good", folder.name)
    assert (again.folder, again.revision) == (folder, folder.name)
    assert hub_checkpoints.fetch(again) == folder


def test_a_disk_too_small_is_told_before_anything_is_fetched(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    found = hub_checkpoints.resolve("lab/good", None)
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=61))
        with pytest.raises(Unavailable, match="takes at least"):
            hub_checkpoints.fetch(found)
    assert Path(hub_checkpoints.fetch(found)).is_dir()
