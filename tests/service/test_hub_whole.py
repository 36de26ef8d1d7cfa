"""The endpoint inside the whole service: beside the board, with the embedded worker, over an object store."""

from __future__ import annotations

import io
import json
import time
from pathlib import Path

import httpx
import pytest
from huggingface_hub import CommitOperationAdd, HfApi

from core.settings import Settings
from server.bootstrap import build
from tests.hub_server import SYSTEM_YAML, Hub, serving
from tests.live_server import serving as serving_all
from tests.small_benchmark import GOOD, add_benchmark, jsonl
from tests.web_client import token


def test_in_and_out_through_the_whole_service(sqlite_url: str, tmp_path: Path, quiet_client: None) -> None:
    settings = Settings(data_dir=str(tmp_path / "data"), database_url=sqlite_url, bootstrap_resamples=499)
    services = build(settings)
    add_benchmark(services, tmp_path / "files")
    with serving_all(services) as url:
        api = HfApi(endpoint=f"{url}/hub", token=token(services, "one"))
        api.create_repo("one/sys", repo_type="dataset")
        files = {"predictions.jsonl": jsonl(GOOD), "system.yaml": SYSTEM_YAML + b"publish: true\n"}
        operations = [CommitOperationAdd(path, data) for path, data in files.items()]
        api.create_commit("one/sys", operations, commit_message="Answer", repo_type="dataset")
        end = time.monotonic() + 60
        while not api.file_exists("one/sys", "scores.json", repo_type="dataset"):
            assert time.monotonic() < end, "no scores came"
            time.sleep(0.2)
        scores = json.loads(Path(api.hf_hub_download("one/sys", "scores.json", repo_type="dataset")).read_text())
        shown = httpx.get(f"{url}/api/v1/leaderboard", params={"benchmark": "small"}).json()
        assert scores["metrics"]["em"]["value"] == pytest.approx(0.6)
        assert "sys" in json.dumps(shown), "it asked to be published"
        visitor = HfApi(endpoint=f"{url}/hub", token=False)
        assert visitor.repo_info("one/sys", repo_type="dataset").private is False


@pytest.mark.service
@pytest.mark.parametrize("link_mb", [0, 2])
def test_content_in_an_object_store(
    sqlite_url: str, tmp_path: Path, quiet_client: None, s3_endpoint: str, link_mb: int
) -> None:
    settings = Settings(
        data_dir=str(tmp_path / "data"), database_url=sqlite_url, bootstrap_resamples=499, hub_inline_mb=1,
        blobs="s3://aqa-blobs/hub", s3_endpoint=s3_endpoint, s3_public_endpoint=s3_endpoint,
        s3_link_mb=link_mb,
    )  # fmt: skip
    services = build(settings)
    add_benchmark(services, tmp_path / "files")
    with serving(services) as url:
        hub = Hub(url, services, tmp_path / "cache")
        api = hub.api()
        hub.push(api, "one/sys")
        hub.work()
        assert json.loads(hub.fetch(api, "one/sys", "report.json"))["state"] == "scored"
        data = bytes(range(256)) * 10_000
        api.upload_file(
            path_or_fileobj=io.BytesIO(data), path_in_repo="large.bin", repo_id="one/sys", repo_type="dataset"
        )
        assert hub.fetch(api, "one/sys", "large.bin") == data
        address = f"{hub.endpoint}/datasets/one/sys/resolve/main/large.bin"
        asked = {"Authorization": f"Bearer {api.token}", "Range": "bytes=1500000-1500009"}
        part = httpx.get(address, headers=asked, follow_redirects=True)
        # rclone sends the range that it is asked for under 200; S3 says 206, as the service does.
        assert (part.status_code in (206, 200 if link_mb else 206), part.content) == (True, data[1_500_000:1_500_010])
        straight = httpx.get(address, headers=asked)
        assert straight.status_code == (302 if link_mb else 206)
        assert straight.headers.get("Location", s3_endpoint).startswith(s3_endpoint)
        assert httpx.head(address, headers=asked).headers["ETag"], "by HEAD the service tells of the file itself"
        assert httpx.get(address).status_code == 404, "for others there is neither file nor link"
        resumed = httpx.get(address, headers=asked | {"If-Range": '"another"'})
        assert (resumed.status_code, resumed.content == data) == (200, True)
