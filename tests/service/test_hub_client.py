"""The unmodified huggingface_hub library against our endpoint, over a real socket."""

from __future__ import annotations

import io
import json
import threading
from pathlib import Path

import pytest
from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfFileSystem
from huggingface_hub import constants as hub_constants
from huggingface_hub.errors import (
    BadRequestError,
    HfHubHTTPError,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from tests.hub_server import SYSTEM_YAML, Hub
from tests.small_benchmark import GOOD, jsonl


def test_create_upload_list_download_delete(hub: Hub, tmp_path: Path) -> None:
    api = hub.api()
    assert api.whoami()["name"] == "one"
    made = api.create_repo("one/sys", repo_type="dataset")
    assert (made.repo_id, made.repo_type, str(made)) == ("one/sys", "dataset", f"{hub.endpoint}/datasets/one/sys")
    with pytest.raises(HfHubHTTPError, match="already created"):
        api.create_repo("one/sys", repo_type="dataset")
    assert api.create_repo("sys", repo_type="dataset", exist_ok=True).repo_id == "one/sys"
    first = api.upload_file(
        path_or_fileobj=b"hello", path_in_repo="notes/a.txt", repo_id="one/sys", repo_type="dataset"
    )
    assert hub.fetch(api, "one/sys", "notes/a.txt") == b"hello"
    api.upload_file(path_or_fileobj=b"", path_in_repo="empty.txt", repo_id="one/sys", repo_type="dataset")
    assert hub.fetch(api, "one/sys", "empty.txt") == b""
    folder = tmp_path / "folder"
    (folder / "notes").mkdir(parents=True)
    (folder / "notes" / "a.txt").write_text("hello")
    (folder / "notes" / "b.txt").write_text("two")
    (folder / "README.md").write_text("---\nlicense: mit\n---\n# A system\n")
    api.upload_folder(repo_id="one/sys", folder_path=folder, repo_type="dataset")
    files = ["README.md", "empty.txt", "notes/a.txt", "notes/b.txt"]
    assert sorted(api.list_repo_files("one/sys", repo_type="dataset")) == files
    assert api.list_repo_files("one/sys", repo_type="dataset", revision=first.oid) == ["notes/a.txt"]
    shot = Path(api.snapshot_download("one/sys", repo_type="dataset", cache_dir=tmp_path / "shot"))
    assert sorted(str(p.relative_to(shot)) for p in shot.rglob("*") if p.is_file()) == files
    info = api.repo_info("one/sys", repo_type="dataset", files_metadata=True)
    assert (info.id, info.private, shot.name) == ("one/sys", True, info.sha)
    assert {s.rfilename: s.size for s in info.siblings or []}["notes/b.txt"] == 3
    api.delete_file("notes/a.txt", "one/sys", repo_type="dataset")
    assert not api.file_exists("one/sys", "notes/a.txt", repo_type="dataset")
    assert api.file_exists("one/sys", "notes/a.txt", repo_type="dataset", revision=info.sha)
    api.delete_folder("notes", "one/sys", repo_type="dataset")
    assert sorted(api.list_repo_files("one/sys", repo_type="dataset")) == ["README.md", "empty.txt"]
    commits = api.list_repo_commits("one/sys", repo_type="dataset")
    assert (len(commits), commits[0].authors, len({c.commit_id for c in commits})) == (6, ["one"], 6)
    api.delete_repo("one/sys", repo_type="dataset")
    assert not api.repo_exists("one/sys", repo_type="dataset")
