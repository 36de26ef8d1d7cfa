"""The service's Hub-like endpoint on a real socket, and the real client library pointed at it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from a2wsgi import WSGIMiddleware
from huggingface_hub import HfApi
from starlette.applications import Starlette
from starlette.routing import Mount

from server import web
from server.bootstrap import Services
from server.lingering import Lingering
from server.worker import Worker
from tests.live_server import on_socket
from tests.small_benchmark import GOOD, jsonl
from tests.web_client import token

SYSTEM_YAML = b"benchmark: small\narchitecture: retrieve-then-read\ndescription: Reads what it finds.\n"


def serving(services: Services) -> AbstractContextManager[str]:
    """Serve the Flask application, without the board, for the time of the block; gives the address."""
    app = Starlette(routes=[Mount("/", WSGIMiddleware(web.create(services)))])
    app.add_middleware(Lingering)
    return on_socket(app)


@dataclass
class Hub:
    """The endpoint's address and the services behind it."""

    url: str
    services: Services
    cache: Path

    @property
    def endpoint(self) -> str:
        """What `HfApi(endpoint=…)` takes."""
        return f"{self.url}/hub"

    def api(self, team: str = "one", role: str = "team") -> HfApi:
        """The library with a fresh token of the team."""
        return HfApi(endpoint=self.endpoint, token=token(self.services, team, role))

    def visitor(self) -> HfApi:
        """The library without a token."""
        return HfApi(endpoint=self.endpoint, token=False)

    def work(self) -> None:
        """Do all jobs that wait."""
        Worker(self.services).run_until_idle()

    def fetch(self, api: HfApi, repo: str, path: str, revision: str | None = None) -> bytes:
        """A file's bytes by `hf_hub_download`."""
        return Path(
            api.hf_hub_download(repo, path, repo_type="dataset", revision=revision, cache_dir=self.cache)
        ).read_bytes()

    def push(self, api: HfApi, repo: str, system: bytes = SYSTEM_YAML, data: bytes | None = None) -> str:
        """Create the repository if need be and commit predictions with their metadata; returns the commit."""
        from huggingface_hub import CommitOperationAdd

        api.create_repo(repo, repo_type="dataset", exist_ok=True)
        files = {"predictions.jsonl": jsonl(GOOD) if data is None else data, "system.yaml": system}
        operations = [CommitOperationAdd(path, content) for path, content in files.items()]
        return api.create_commit(repo, operations, commit_message="Answer", repo_type="dataset").oid
