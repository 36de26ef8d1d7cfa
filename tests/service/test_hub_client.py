"""The unmodified huggingface_hub library against our endpoint, over a real socket."""

from __future__ import annotations

import io
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

from tests.hub_server import Hub


def test_create_upload_list_download_delete(any_hub: Hub, tmp_path: Path) -> None:
    hub = any_hub
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


def test_folders_pages_and_file_systems(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.hub.listing._PAGE", 3)
    api = hub.api()
    api.create_repo("one/sys", repo_type="dataset")
    paths = [f"{folder}/{n}.txt" for folder in ("a", "b") for n in range(4)] + ["c.txt"]
    api.create_commit(
        "one/sys", [CommitOperationAdd(p, p.encode()) for p in paths], commit_message="Many", repo_type="dataset"
    )
    assert sorted(api.list_repo_files("one/sys", repo_type="dataset")) == paths
    top = [entry.path for entry in api.list_repo_tree("one/sys", repo_type="dataset")]
    assert top == ["a", "b", "c.txt"]
    below = list(api.list_repo_tree("one/sys", "a", repo_type="dataset", expand=True))
    assert [entry.path for entry in below] == paths[:4]
    assert below[0].last_commit.title == "Many"
    with pytest.raises(RemoteEntryNotFoundError):
        list(api.list_repo_tree("one/sys", "none", repo_type="dataset"))
    found = api.get_paths_info("one/sys", ["a", "c.txt", "none"], repo_type="dataset")
    assert [entry.path for entry in found] == ["a", "c.txt"]
    files = HfFileSystem(endpoint=hub.endpoint, token=api.token)
    assert files.cat("datasets/one/sys/a/1.txt") == b"a/1.txt"
    assert files.cat_file("datasets/one/sys/a/1.txt", start=2, end=5) == b"1.t"
    assert [branch.name for branch in api.list_repo_refs("one/sys", repo_type="dataset").branches] == ["main"]


def test_missing_things_raise_what_the_library_promises(hub: Hub) -> None:
    api = hub.api()
    api.create_repo("one/sys", repo_type="dataset")
    with pytest.raises(RepositoryNotFoundError):
        api.repo_info("one/none", repo_type="dataset")
    with pytest.raises(RevisionNotFoundError):
        api.repo_info("one/sys", repo_type="dataset", revision="branch")
    with pytest.raises(RemoteEntryNotFoundError):
        hub.fetch(api, "one/sys", "none.txt")
    with pytest.raises(RemoteEntryNotFoundError, match="doesn't exist"):
        api.delete_file("none.txt", "one/sys", repo_type="dataset")
    with pytest.raises(RepositoryNotFoundError, match="repo_type='dataset'"):
        api.repo_info("one/sys")
    with pytest.raises(BadRequestError, match="Only dataset repositories"):
        api.create_repo("one/model")
    with pytest.raises(BadRequestError, match="no pull requests"):
        api.upload_file(path_or_fileobj=b"x", path_in_repo="x", repo_id="one/sys", repo_type="dataset", create_pr=True)
    with pytest.raises(HfHubHTTPError, match="stand under 'one'"):
        api.create_repo("two/sys", repo_type="dataset")
    with pytest.raises(HfHubHTTPError, match="Invalid user token"):
        hub.visitor().whoami(token="aqa_wrong")


def test_concurrent_commits_on_one_parent_one_wins(any_hub: Hub) -> None:
    hub = any_hub
    api = hub.api()
    api.create_repo("one/sys", repo_type="dataset")
    parent = api.repo_info("one/sys", repo_type="dataset").sha
    outcomes = _commit_at_once(hub, 4, parent)
    assert sorted(outcomes) == [200, 412, 412, 412]
    assert len(api.list_repo_files("one/sys", repo_type="dataset")) == 1


def test_concurrent_commits_without_a_parent_all_land(any_hub: Hub) -> None:
    hub = any_hub
    api = hub.api()
    api.create_repo("one/sys", repo_type="dataset")
    assert _commit_at_once(hub, 4, None) == [200] * 4
    assert len(api.list_repo_files("one/sys", repo_type="dataset")) == 4
    assert len(api.list_repo_commits("one/sys", repo_type="dataset")) == 5


def _commit_at_once(hub: Hub, count: int, parent: str | None) -> list[int]:
    outcomes: list[int] = []
    gate = threading.Barrier(count)
    apis = [hub.api() for _ in range(count)]

    def commit(number: int) -> None:
        operation = CommitOperationAdd(f"{number}.txt", str(number).encode())
        gate.wait()
        try:
            apis[number].create_commit(
                "one/sys", [operation], commit_message="At once", repo_type="dataset", parent_commit=parent
            )
            outcomes.append(200)
        except HfHubHTTPError as error:
            outcomes.append(error.response.status_code)

    threads = [threading.Thread(target=commit, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return outcomes


@pytest.mark.parametrize("how", ["path", "stream"])
def test_large_files_go_by_lfs(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    object.__setattr__(hub.services.settings, "hub_inline_mb", 1)
    if how == "path":
        monkeypatch.setattr(hub_constants, "HF_HUB_DISABLE_XET", True)
    data = bytes(range(256)) * 12_000
    file = tmp_path / "large.bin"
    file.write_bytes(data)
    api = hub.api()
    api.create_repo("one/sys", repo_type="dataset")
    sent: object = str(file) if how == "path" else io.BytesIO(data)
    made = api.upload_file(path_or_fileobj=sent, path_in_repo="large.bin", repo_id="one/sys", repo_type="dataset")
    assert hub.fetch(api, "one/sys", "large.bin") == data
    again: object = str(file) if how == "path" else io.BytesIO(data)
    same = api.upload_file(path_or_fileobj=again, path_in_repo="large.bin", repo_id="one/sys", repo_type="dataset")
    assert same.oid == made.oid, "an unchanged file makes no commit"
    object.__setattr__(hub.services.settings, "max_file_mb", 2)
    with pytest.raises(ValueError, match="there is room for 2.0 MiB"):
        api.upload_file(
            path_or_fileobj=io.BytesIO(data + b"x"), path_in_repo="more.bin", repo_id="one/sys", repo_type="dataset"
        )


def test_a_large_file_goes_inside_the_commit_with_the_library_as_installed(hub: Hub, tmp_path: Path) -> None:
    data = bytes(range(256)) * 80_000
    file = tmp_path / "large.bin"
    file.write_bytes(data)
    api = hub.api()
    api.create_repo("one/sys", repo_type="dataset")
    api.upload_file(path_or_fileobj=file, path_in_repo="large.bin", repo_id="one/sys", repo_type="dataset")
    assert hub.fetch(api, "one/sys", "large.bin") == data


def test_deleting_and_adding_in_one_commit(hub: Hub) -> None:
    api = hub.api()
    api.create_repo("one/sys", repo_type="dataset")
    first = [CommitOperationAdd("a/x.txt", b"1"), CommitOperationAdd("a/y.txt", b"2")]
    api.create_commit("one/sys", first, commit_message="Two", repo_type="dataset")
    second = [CommitOperationDelete("a/"), CommitOperationAdd("a/z.txt", b"3")]
    api.create_commit("one/sys", second, commit_message="Other", repo_type="dataset")
    assert api.list_repo_files("one/sys", repo_type="dataset") == ["a/z.txt"]
    with pytest.raises(BadRequestError, match="file and a folder"):
        api.upload_file(path_or_fileobj=b"x", path_in_repo="a", repo_id="one/sys", repo_type="dataset")


@pytest.mark.parametrize(("team", "namespace"), [("one", "one"), ("Déjà vu & Co.", "Deja-vu-Co"), ("答案", "team")])
def test_team_names_become_namespaces(hub: Hub, team: str, namespace: str) -> None:
    api = hub.api(team)
    assert api.whoami()["name"] == namespace
    assert api.create_repo("sys", repo_type="dataset").repo_id == f"{namespace}/sys"
    other = hub.api(f"{namespace} ?")
    assert other.whoami()["name"] == f"{namespace}-2", "another team's namespace is never given again"
    with pytest.raises(RepositoryNotFoundError):
        other.repo_info(f"{namespace}/sys", repo_type="dataset")
    assert [found.id for found in api.list_datasets(author=namespace)] == [f"{namespace}/sys"]
