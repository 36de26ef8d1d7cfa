"""The Dockerfile's own install steps and commands in fresh virtual environments, wired as compose.yaml says.

No engine is needed: paths of the image are put under a folder of the test, and services are the tests' own. What only
an image has (its user, its volume) is left out.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from tests.dockerfile import ROOT, chain, command, environment, stages
from tests.redis_server import RedisServer
from tests.small_benchmark import GOOD, PASSAGES, QUESTIONS, jsonl
from tests.unit.test_images import OURS
from tests.worker_process import kill_group, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.service, pytest.mark.timeout(2400)]
STAGES = stages((ROOT / "Dockerfile").read_text())
_ONLY_IN_AN_IMAGE = re.compile(r"useradd .* install -d ")


class Image:
    """What building a target would leave: a virtual environment, and the environment variables of its process."""

    def __init__(self, target: str, folder: Path) -> None:
        self.folder, self.target = folder / target, target
        (self.folder / "src").mkdir(parents=True)
        self._build()
        self.steps = chain(STAGES, target)
        for word, rest in self.steps:
            assert word != "RUN" or _ONLY_IN_AN_IMAGE.search(rest), rest

    def _path(self, text: str) -> str:
        return text.replace("/opt/aqa", str(self.folder / "aqa")).replace("/data", str(self.folder.parent / "data"))

    def _build(self) -> None:
        steps = chain(STAGES, f"build-{self.target}")
        python = str(Path(sys.executable).parent)
        outside = {k: v for k, v in os.environ.items() if not k.startswith(("AQA_", "VIRTUAL_ENV", "PYTHON"))}
        for word, rest in steps:
            if word == "COPY":
                *sources, _ = rest.split()
                for source in sources:
                    self._copy(ROOT / source, self.folder / "src" / source)
            elif word == "RUN":
                told = subprocess.run(
                    ["/bin/sh", "-ec", self._path(rest)], cwd=self.folder / "src", capture_output=True, text=True,
                    env=outside | environment(steps) | {"PATH": f"{python}:{os.environ['PATH']}"},
                )  # fmt: skip
                assert told.returncode == 0, told.stdout[-2000:] + told.stderr[-4000:]

    @staticmethod
    def _copy(source: Path, to: Path) -> None:
        if source.is_dir():
            shutil.copytree(source, to, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, to)

    def environment(self, given: dict[str, str]) -> dict[str, str]:
        """The image's own variables under those that compose.yaml gives."""
        own = {name: self._path(value) for name, value in environment(self.steps).items()}
        return own | {"PATH": own["PATH"].replace("$PATH", os.environ["PATH"]), "HOME": str(self.folder)} | given

    @contextmanager
    def running(self, words: list[str], given: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
        """A command of the image for the time of the block."""
        with (self.folder / f"{words[1]}.log").open("ab") as log:
            process = subprocess.Popen(
                [str(self.folder / "aqa" / "bin" / words[0]), *words[1:]], cwd=self.folder, stdout=log, stderr=log,
                env=self.environment(given), start_new_session=True,
            )  # fmt: skip
        try:
            yield process
        finally:
            kill_group(process)

    def run(self, words: list[str], given: dict[str, str], *, fails: bool = False) -> str:
        """A command that ends, well unless it `fails`; returns what it said."""
        told = subprocess.run(
            [str(self.folder / "aqa" / "bin" / words[0]), *words[1:]], cwd=self.folder, capture_output=True, text=True,
            env=self.environment(given),
        )  # fmt: skip
        assert told.returncode == 0 or fails, told.stdout + told.stderr
        return told.stdout


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Image]:
    folder = tmp_path_factory.mktemp("images")
    (folder / "data").mkdir()
    return {target: Image(target, folder) for target in ("web", "worker")}


@pytest.fixture
def redis_url(tmp_path: Path) -> Iterator[str]:
    server = RedisServer(tmp_path)
    server.start()
    yield server.url
    server.kill()


def test_the_images_say_that_they_lack_nothing(images: dict[str, Image]) -> None:
    locks = ("weights.lock", "weights-worker.lock")
    alone = {line.split("==")[0] for name in locks for line in (ROOT / name).read_text().splitlines()}
    for image in images.values():
        missing = image.run(["python", "-m", "pip", "check"], {}, fails=True).splitlines()
        told = [line for line in missing if line.split()[0] not in alone]  # of those only the weights are wanted
        assert [line for line in told if line != "No broken requirements found."] == []
    has = "import importlib.util as u; print(u.find_spec('torch') is not None)"
    assert [images[t].run(["python", "-c", has], {}).strip() for t in ("web", "worker")] == ["False", "True"]


def test_the_service_as_compose_wires_it(
    images: dict[str, Image], postgres_empty_url: str, redis_url: str, s3_endpoint: str, tmp_path: Path, free_port: int
) -> None:
    here = {
        "AQA_DATABASE_URL": postgres_empty_url, "AQA_BROKER_URL": redis_url, "AQA_S3_ENDPOINT": s3_endpoint,
        "AQA_RATE_LIMIT_STORAGE": redis_url, "AQA_SECRET_KEY": "a" * 40,
        "AQA_PUBLIC_URL": f"http://127.0.0.1:{free_port}", "AQA_METRICS_TOKEN": "m",
    }  # fmt: skip
    told = {k: re.sub(r"\$\{\w+:-(.*)\}", r"\1", str(v)) for k, v in OURS["web"]["environment"].items()} | here
    told |= {k: os.environ[k] for k in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION")}
    assert not [name for name, value in told.items() if "${" in value or "//s3" in value]
    told |= {"AQA_HOST": "127.0.0.1", "AQA_PORT": str(free_port)}  # the image listens on all addresses
    web, worker = images["web"], images["worker"]
    web.run(OURS["migrate"]["command"], told)
    _add_benchmark(web, told, tmp_path)
    web.run(["aqa", "team", "add", "one"], told)
    token = re.search(r"aqa_\S+", web.run(["aqa", "token", "new", "--team", "one"], told))
    assert token
    with ExitStack() as stack:
        stack.enter_context(web.running(command(web.steps), told))
        for name in ("worker-cpu", "worker-gpu"):
            stack.enter_context(worker.running(OURS[name]["command"], told))
        client = stack.enter_context(httpx.Client(base_url=f"http://127.0.0.1:{free_port}", timeout=60))
        wait_until(lambda: _answers(client, "/healthz"), 120, "answering", web.folder / "serve.log")
        assert _answers(client, "/readyz")
        check = [word.replace("7860", str(free_port)) for word in command(web.steps, "HEALTHCHECK")]
        web.run(check, told)
        client.headers["Authorization"] = f"Bearer {token[0]}"
        sent = client.post(
            "/api/v1/submissions", files={"file": ("a.jsonl", jsonl(GOOD))}, data={"benchmark": "small", "system": "S"}
        )
        assert sent.status_code == 201, sent.text
        status = f"/api/v1/submissions/{sent.json()['id']}"
        log = worker.folder / "worker.log"
        wait_until(lambda: client.get(status).json()["state"] in ("scored", "failed"), 180, "scoring", log)
        assert client.get(status).json()["state"] == "scored", log.read_text()[-3000:]
        scores = client.get(f"{status}/scores").json()
        assert scores["judge"].startswith("small@")
        assert scores["metrics"]["em"]["value"] == 0.6


def _answers(client: httpx.Client, path: str) -> bool:
    try:
        return client.get(path).status_code == 200
    except httpx.HTTPError:
        time.sleep(0.3)
        return False


def _add_benchmark(web: Image, told: dict[str, str], folder: Path) -> None:
    questions, corpus = folder / "q.jsonl", folder / "c.jsonl"
    questions.write_text("".join(json.dumps({"id": i, "question": q, "answer": a}) + "\n" for i, q, a in QUESTIONS))
    corpus.write_text("".join(json.dumps({"id": i, "contents": c}) + "\n" for i, c in PASSAGES.items()))
    web.run(["aqa", "benchmark", "add", "--id", "small", "--questions", str(questions), "--corpus", str(corpus)], told)


@pytest.fixture
def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
