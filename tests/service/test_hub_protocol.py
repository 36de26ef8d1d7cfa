"""The endpoint as a plain HTTP client meets it: errors, limits, ranges, and what must not work."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator

import httpx
import pytest
from sqlalchemy import func, select

from core.tables import RepoCommit, RepoUpload
from core.tables.base import utc_now
from tests.hub_server import Hub
from tests.web_client import bearer

SYS = "/api/datasets/one/sys"


@pytest.fixture
def http(hub: Hub) -> Iterator[httpx.Client]:
    """A client with a token of the team `one`, which has the repository `sys`."""
    with httpx.Client(base_url=hub.endpoint, headers=bearer(hub.services), timeout=30) as client:
        assert client.post("/api/repos/create", json={"name": "sys", "type": "dataset"}).status_code == 200
        yield client


def file(path: str, data: bytes = b"x") -> dict[str, object]:
    """The line of a commit that adds a file."""
    return {
        "key": "file",
        "value": {"path": path, "content": base64.b64encode(data).decode(), "encoding": "base64"},
    }


def commit(http: httpx.Client, *lines: object, repo: str = SYS, **header: object) -> httpx.Response:
    """Send a commit."""
    all_lines = [{"key": "header", "value": {"summary": "Change", **header}}, *lines]
    return http.post(f"{repo}/commit/main", content="\n".join(json.dumps(line) for line in all_lines))


@pytest.mark.parametrize(
    "path",
    ["../x", "a/../../x", "/etc/passwd", "a//b", "", ".", "a/./b", ".git/config", "a\\b", "a\nb", "a\0b", "x" * 501,
     "a/" + "é" * 200, "\ud800", "..%2fx/..", "a/.git"],
)  # fmt: skip
def test_paths_that_lead_outside_are_refused(http: httpx.Client, hub: Hub, path: str) -> None:
    for line in (
        file(path),
        {"key": "deletedFile", "value": {"path": path}},
        {"key": "lfsFile", "value": {"path": path, "algo": "sha256", "oid": "0" * 64, "size": 1}},
    ):
        assert commit(http, line).status_code == 400, line
    with hub.services.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(RepoCommit)) == 1


@pytest.mark.parametrize("path", ["..%2f..%2fetc%2fpasswd", "%2e%2e/x", "%00", "a%0ab", "none"])
def test_reading_outside_finds_nothing(http: httpx.Client, path: str) -> None:
    assert http.get(f"/datasets/one/sys/resolve/main/{path}").status_code == 404


@pytest.mark.parametrize("name", ["a--b", "a..b", "-a", "a.", "a.git", "x" * 97, "a/b", "", "ä", "a b", "../x"])
def test_bad_names_are_refused(http: httpx.Client, name: str) -> None:
    answer = http.post("/api/repos/create", json={"name": name, "type": "dataset"})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_input")


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/api/datasets/one/none", 404, "RepoNotFound"),
        ("GET", f"{SYS}/revision/none", 404, "RevisionNotFound"),
        ("GET", f"{SYS}/tree/abcdef0", 404, "RevisionNotFound"),
        ("GET", f"{SYS}/tree/main/none", 404, "EntryNotFound"),
        ("HEAD", "/datasets/one/sys/resolve/main/none", 404, "EntryNotFound"),
        ("GET", "/datasets/none/sys/resolve/main/x", 404, "RepoNotFound"),
        ("GET", "/api/models/one/sys", 404, "RepoNotFound"),
        ("GET", "/one/sys/resolve/main/x", 404, "RepoNotFound"),
        ("POST", f"{SYS}/branch/other", 404, None),
        ("GET", "/api/datasets/one", 404, None),
        ("POST", f"{SYS}/commit/other", 404, "RevisionNotFound"),
        ("PUT", "/api/whoami-v2", 404, None),
    ],
)
def test_errors_carry_the_headers_that_clients_read(
    http: httpx.Client, method: str, path: str, status: int, code: str | None
) -> None:
    answer = http.request(method, path)
    assert (answer.status_code, answer.headers.get("X-Error-Code")) == (status, code)
    assert answer.headers["X-Error-Message"]
    assert answer.headers["Content-Type"] == "application/json"
    if method != "HEAD":
        assert isinstance(answer.json()["error"], str)


def test_a_missing_file_names_the_commit_it_is_missing_from(http: httpx.Client) -> None:
    oid = commit(http, file("a.txt")).json()["commitOid"]
    assert http.head("/datasets/one/sys/resolve/main/none").headers["X-Repo-Commit"] == oid


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (b"not json", "Line 1 is not JSON"),
        (b"[]", "not a JSON object"),
        (b'{"key": "file"}', "no value"),
        (b'{"key": "copy", "value": {"path": "a"}}', "no step 'copy'"),
        (b'{"key": "file", "value": {"path": "a", "content": "*", "encoding": "base64"}}', "not base64"),
        (b'{"key": "file", "value": {"path": ["a"], "content": 1}}\n{', "is not JSON"),
    ],
)
def test_broken_commits_are_refused_whole(http: httpx.Client, hub: Hub, lines: bytes, says: str) -> None:
    answer = http.post(f"{SYS}/commit/main", content=lines)
    assert (answer.status_code, says in answer.json()["error"]) == (400, True), answer.text
    with hub.services.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(RepoCommit)) == 1


def test_a_stale_parent_is_412_and_a_good_one_is_not(http: httpx.Client) -> None:
    first = http.get(SYS).json()["sha"]
    second = commit(http, file("a.txt"), parentCommit=first[:7])
    assert second.status_code == 200
    stale = commit(http, file("b.txt"), parentCommit=first)
    assert (stale.status_code, stale.json()["code"]) == (412, "stale_parent")
    assert second.json()["commitOid"] in stale.headers["X-Error-Message"]
    assert commit(http, file("b.txt"), parentCommit="").status_code == 412


@pytest.mark.parametrize(("client", "host"), [("0.36.0", False), ("1.0.1", False), ("2.4.0", True), ("10.0", True)])
def test_commit_addresses_are_such_as_the_client_can_read(
    http: httpx.Client, hub: Hub, client: str, host: bool
) -> None:
    http.headers["User-Agent"] = f"unknown/None; hf_hub/{client}; python/3.11"
    made = commit(http, file("a.txt")).json()
    start = f"{hub.endpoint}/" if host else ""
    assert made["commitUrl"] == f"{start}datasets/one/sys/commit/{made['commitOid']}"


def test_limits_hold(http: httpx.Client, hub: Hub) -> None:
    settings = hub.services.settings
    object.__setattr__(settings, "max_file_mb", 1)
    large = commit(http, file("large", bytes(2**20 + 1)))
    assert (large.status_code, large.json()["code"]) == (413, "too_large")
    endless = http.post(f"{SYS}/commit/main", content=(b"x" * 2**20 for _ in range(40)))
    assert endless.status_code == 413
    object.__setattr__(settings, "hub_files", 2)
    assert commit(http, file("a"), file("b"), file("c")).status_code == 413
    assert commit(http, *[file("a")] * 5).status_code == 413, "steps are counted, too"
    assert commit(http, file("a"), file("b")).status_code == 200
    object.__setattr__(settings, "hub_repo_mb", 1)
    assert commit(http, file("a", bytes(2**20 - 2))).status_code == 200
    full = commit(http, file("a", bytes(100)))
    assert (full.status_code, "over its history" in full.json()["error"]) == (413, True)


def test_ranges(http: httpx.Client) -> None:
    oid = commit(http, file("a.txt", b"0123456789")).json()["commitOid"]
    at = "/datasets/one/sys/resolve/main/a.txt"
    whole = http.get(at)
    assert (whole.content, whole.headers["Content-Length"], whole.headers["X-Repo-Commit"]) == (
        b"0123456789", "10", oid,
    )  # fmt: skip
    tag = whole.headers["ETag"]
    assert tag == f'"{hashlib.sha1(b"blob 10" + bytes(1) + b"0123456789").hexdigest()}"', "git's own name for it"
    for wanted, content in (("bytes=2-4", b"234"), ("bytes=7-", b"789"), ("bytes=-2", b"89"), ("bytes=0-99", None)):
        part = http.get(at, headers={"Range": wanted})
        assert (part.status_code, part.content) == ((206, content) if content else (200, whole.content)), wanted
    assert http.get(at, headers={"Range": "bytes=2-4"}).headers["Content-Range"] == "bytes 2-4/10"
    beyond = http.get(at, headers={"Range": "bytes=10-"})
    assert (beyond.status_code, beyond.headers["Content-Range"]) == (416, "bytes */10")
    assert http.get(at, headers={"Range": "bytes=2-4", "If-Range": '"other"'}).status_code == 200
    head = http.head(at)
    assert (head.content, head.headers["Content-Length"], head.headers["ETag"]) == (b"", "10", tag)
    assert http.get(f"/datasets/one/sys/raw/{oid[:7]}/a.txt").content == b"0123456789"


def test_files_are_inert_in_a_browser(http: httpx.Client) -> None:
    commit(http, file("page.html", b"<script>alert(1)</script>"))
    answer = http.get("/datasets/one/sys/resolve/main/page.html")
    assert answer.headers["Content-Disposition"] == "attachment"
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


def test_tokens(http: httpx.Client, hub: Hub) -> None:
    for headers in ({"Authorization": "Bearer aqa_wrong"}, {"Authorization": "Basic x"}):
        wrong = httpx.get(f"{hub.endpoint}{SYS}", headers=headers)
        assert wrong.status_code == 401
        assert wrong.headers["X-Error-Message"] == "Invalid credentials in Authorization header"
        assert wrong.headers["WWW-Authenticate"] == "Bearer"
    assert httpx.get(f"{hub.endpoint}{SYS}").status_code == 404, "private and missing look alike"
    assert httpx.post(f"{hub.endpoint}{SYS}/commit/main").status_code == 401
    rater = bearer(hub.services, "one", "rater")
    assert httpx.get(f"{hub.endpoint}{SYS}", headers=rater).status_code == 200
    assert httpx.post(f"{hub.endpoint}{SYS}/commit/main", headers=rater).status_code == 403
    role = httpx.get(f"{hub.endpoint}/api/whoami-v2", headers=rater).json()["auth"]["accessToken"]["role"]
    assert role == "read"


def batch(http: httpx.Client, oid: str, size: int, repo: str = "one/sys") -> dict[str, object]:
    """Ask where to send an object."""
    body = {"operation": "upload", "objects": [{"oid": oid, "size": size}], "hash_algo": "sha256"}
    answer = http.post(f"/datasets/{repo}.git/info/lfs/objects/batch", json=body)
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"] == "application/vnd.git-lfs+json"
    return dict(answer.json()["objects"][0])


def lfs(path: str, oid: str, size: int) -> dict[str, object]:
    """The line of a commit that adds an uploaded object."""
    return {"key": "lfsFile", "value": {"path": path, "algo": "sha256", "oid": oid, "size": size}}


def test_objects_are_checked_as_they_arrive(http: httpx.Client, hub: Hub) -> None:
    data = b"some content"
    oid = hashlib.sha256(data).hexdigest()
    actions = batch(http, oid, len(data))["actions"]
    put, check = actions["upload"]["href"], actions["verify"]["href"]
    assert commit(http, lfs("a", oid, len(data))).status_code == 400, "named before it was sent"
    for wrong, status in ((b"other conten", 400), (data[:-1], 400), (data + b"more", 413)):
        assert httpx.put(put, content=wrong).status_code == status, wrong
        assert httpx.put(put, content=iter([wrong])).status_code == status, wrong
    assert list(hub.services.blobs.keys()) == [], "nothing is left of what was refused"
    assert http.post(check, json={"oid": oid, "size": len(data)}).status_code == 404
    assert httpx.put(put + "x", content=data).status_code == 403
    assert httpx.put(f"{hub.endpoint}/lfs/anything", content=data).status_code == 403
    assert httpx.put(put, content=data).status_code == 200
    assert http.post(check, json={"oid": oid, "size": len(data)}).status_code == 200
    assert commit(http, lfs("a", oid, len(data) + 1)).status_code == 400, "another size"
    assert commit(http, lfs("a", oid, len(data))).status_code == 200
    assert http.get("/datasets/one/sys/resolve/main/a").content == data
    assert "actions" not in batch(http, oid, len(data)), "what is there need not be sent"
    with hub.services.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(RepoUpload)) == 0


def test_an_upload_address_ends(http: httpx.Client, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"late"
    put = batch(http, hashlib.sha256(data).hexdigest(), len(data))["actions"]["upload"]["href"]
    monkeypatch.setattr("server.hub.lfs._SECONDS", -1)
    assert httpx.put(put, content=data).status_code == 403


def test_knowing_a_digest_does_not_open_anothers_content(http: httpx.Client, hub: Hub) -> None:
    secret = b"the other team's predictions"
    commit(http, file("secret.txt", secret))
    oid = hashlib.sha256(secret).hexdigest()
    with httpx.Client(base_url=hub.endpoint, headers=bearer(hub.services, "two"), timeout=30) as other:
        other.post("/api/repos/create", json={"name": "mine", "type": "dataset"})
        refused = commit(other, lfs("stolen", oid, len(secret)), repo="/api/datasets/two/mine")
        assert (refused.status_code, "was not uploaded" in refused.json()["error"]) == (400, True)
        assert "actions" in batch(other, oid, len(secret), "two/mine"), "nor does it tell that it is here"
        assert other.post("/datasets/one/sys.git/info/lfs/objects/batch", json={}).status_code in (400, 404)


def test_uploads_count_against_the_room_until_forgotten(http: httpx.Client, hub: Hub) -> None:
    object.__setattr__(hub.services.settings, "hub_repo_mb", 1)
    data = bytes(2**20 - 10)
    oid = hashlib.sha256(data).hexdigest()
    httpx.put(batch(http, oid, len(data))["actions"]["upload"]["href"], content=data)
    assert batch(http, "0" * 64, 11)["error"]["code"] == 413
    with hub.services.database.transaction() as session:
        from datetime import timedelta

        session.get_one(RepoUpload, (1, oid)).created_at = utc_now() - timedelta(days=2)
    assert "actions" in batch(http, "0" * 64, 11)


def test_one_transaction_or_nothing(http: httpx.Client) -> None:
    answer = commit(http, file("a.txt"), {"key": "deletedFile", "value": {"path": "none"}})
    assert (answer.status_code, answer.headers["X-Error-Code"]) == (404, "EntryNotFound")
    assert http.get(f"{SYS}/tree/main").json() == []


def test_deleting_takes_what_nobody_else_needs(http: httpx.Client, hub: Hub) -> None:
    commit(http, file("a.txt", b"only here"), file("b.txt", b"also there"))
    with httpx.Client(base_url=hub.endpoint, headers=bearer(hub.services, "two"), timeout=30) as other:
        other.post("/api/repos/create", json={"name": "mine", "type": "dataset"})
        commit(other, file("b.txt", b"also there"), repo="/api/datasets/two/mine")
        theirs = {"organization": "one", "name": "sys", "type": "dataset"}
        assert other.request("DELETE", "/api/repos/delete", json=theirs).status_code == 404
        assert http.request("DELETE", "/api/repos/delete", json=theirs).status_code == 200
        assert http.get(SYS).status_code == 404
        assert list(hub.services.blobs.keys()) == [hashlib.sha256(b"also there").hexdigest()]
        assert other.get("/datasets/two/mine/resolve/main/b.txt").content == b"also there"
