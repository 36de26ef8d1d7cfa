"""Repositories are private until something in them is on the board, and then only that is shown."""

from __future__ import annotations

import re
from datetime import timedelta

import httpx
import pytest
from huggingface_hub.errors import (
    HfHubHTTPError,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from sqlalchemy import select

from core.tables import Submission
from core.tables.base import utc_now
from server import web
from tests.hub_server import Hub
from tests.small_benchmark import GOOD, jsonl
from tests.web_client import bearer

OUTPUTS = ["examples.parquet", "report.json", "scores.json"]


def test_repositories_are_private_until_published(any_hub: Hub) -> None:
    hub = any_hub
    owner, stranger, visitor, house = hub.api(), hub.api("two"), hub.visitor(), hub.api("house", "maintainer")
    hub.push(owner, "one/sys")
    hub.work()
    source = owner.list_repo_commits("one/sys", repo_type="dataset")[1].commit_id
    for api in (stranger, visitor):
        for call in (
            lambda api=api: api.repo_info("one/sys", repo_type="dataset"),
            lambda api=api: api.list_repo_files("one/sys", repo_type="dataset"),
            lambda api=api: hub.fetch(api, "one/sys", "scores.json"),
            lambda api=api: api.list_repo_commits("one/sys", repo_type="dataset"),
        ):
            with pytest.raises(RepositoryNotFoundError):
                call()
    with pytest.raises(RepositoryNotFoundError):
        stranger.upload_file(path_or_fileobj=b"", path_in_repo="x", repo_id="one/sys", repo_type="dataset")
    assert house.repo_info("one/sys", repo_type="dataset").private is True
    with pytest.raises(HfHubHTTPError, match="another team"):
        house.upload_file(path_or_fileobj=b"", path_in_repo="x", repo_id="one/sys", repo_type="dataset")
    with hub.services.database.reading() as session:
        entry = session.scalars(select(Submission)).one()
    hub.services.intake.publish(entry.id, None)
    owner.upload_file(path_or_fileobj=b"later", path_in_repo="secret.txt", repo_id="one/sys", repo_type="dataset")
    hub.push(owner, "one/sys", data=jsonl(GOOD[:4]))
    for api in (stranger, visitor):
        info = api.repo_info("one/sys", repo_type="dataset")
        files = sorted(api.list_repo_files("one/sys", repo_type="dataset"))
        assert (info.private, files) == (False, sorted(["predictions.jsonl", "system.yaml", *OUTPUTS]))
        assert hub.fetch(api, "one/sys", "predictions.jsonl") == jsonl(GOOD)
        before = api.list_repo_files("one/sys", repo_type="dataset", revision=source)
        assert sorted(before) == ["predictions.jsonl", "system.yaml"]
        newest = owner.repo_info("one/sys", repo_type="dataset").sha
        with pytest.raises(RevisionNotFoundError):
            api.repo_info("one/sys", repo_type="dataset", revision=newest)
        with pytest.raises(RemoteEntryNotFoundError):
            hub.fetch(api, "one/sys", "secret.txt")
    with pytest.raises(HfHubHTTPError, match="another team"):
        stranger.upload_file(path_or_fileobj=b"", path_in_repo="x", repo_id="one/sys", repo_type="dataset")
    with hub.services.database.transaction() as session:
        team = session.get_one(Submission, entry.id).system.team
        team.alias, team.alias_until = "Somebody", utc_now() + timedelta(days=1)
    with pytest.raises(RepositoryNotFoundError):
        visitor.repo_info("one/sys", repo_type="dataset")
    with hub.services.database.transaction() as session:
        session.get_one(Submission, entry.id).system.team.alias_until = utc_now()
    assert visitor.repo_info("one/sys", repo_type="dataset").id == "one/sys"
    hub.services.intake.withdraw(entry.id, None)
    with pytest.raises(RepositoryNotFoundError):
        visitor.repo_info("one/sys", repo_type="dataset")


def test_every_route_of_a_repository_hides_it_from_others(hub: Hub) -> None:
    hub.push(hub.api(), "one/sys")
    hub.work()
    app = web.create(hub.services)
    stranger = bearer(hub.services, "two")
    found = [rule for rule in app.url_map.iter_rules() if rule.rule.startswith("/hub/") and "name" in rule.arguments]
    assert len(found) > 12
    for rule in found:
        for method in rule.methods - {"HEAD", "OPTIONS"}:
            answers = []
            for name in ("sys", "none"):
                values = {"namespace": "one", "name": name, "revision": "main", "path": "scores.json", "folder": "x"}
                path = re.sub(r"<(?:path:)?(\w+)>", lambda found, values=values: values[found[1]], rule.rule)
                body = {"operation": "upload", "objects": [], "files": [], "oid": "x", "size": 1, "paths": ["x"]}
                answer = httpx.request(method, hub.url + path, headers=stranger, json=body)
                assert (answer.status_code, answer.headers.get("X-Error-Code")) == (404, "RepoNotFound"), rule
                answers.append(answer.text.replace(name, "NAME"))
                visitor = httpx.request(method, hub.url + path, json=body)
                assert visitor.status_code in (401, 404), rule
            assert answers[0] == answers[1], "private and missing look alike"
