"""Models by reference, run to scores: planned, counted, and with no token of ours; nothing else reaches a backend."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select

from core.errors import InvalidInput, OverQuota
from core.hub_access import MACHINE, HubAccess, reaching_hub
from core.settings import Settings
from core.tables import Job, RunRow, Submission
from server import models, runs, web
from server.bootstrap import Services, build
from server.runs import RunPlan
from server.worker import Worker
from submissions.intake import SystemCard
from submissions.sources.hub import Hub
from submissions.sources.model import check
from systems.checkpoints import fetch
from tests.fake_hub import FakeHub
from tests.hub_models import CARD, GOOD, RULES, good_hub
from tests.small_benchmark import add_benchmark, add_team
from tests.web_client import API, bearer

MACHINE_TOKEN = "hf_of_the_whole_machine"
CARD_IN = SystemCard("Mine", "retrieve-then-read", "few-shot", "About it", ("https://x.org",))


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    with good_hub() as running:
        yield running


def test_a_run_is_planned_on_the_gpu_queue(services: Services, tmp_path: Path, hub: FakeHub) -> None:
    add_benchmark(services, tmp_path / "files")
    team = add_team(services)
    wanted = {"max_new_tokens": 8, "temperature": 0.5, "k": 4, "P": 2, "A": 2}
    made = models.submit(services, team, "lab/good", "small", CARD_IN, wanted, seed=3, hub=Hub(hub.url))
    with services.database.reading() as session:
        row, job = session.get_one(RunRow, made), session.scalars(select(Job).where(Job.subject == made)).one()
    commit = check(Hub(hub.url), "lab/good", RULES).commit
    assert (job.queue, job.kind, row.system) == ("gpu", "run_system", "Small-RTR")
    assert row.plan["changes"] == {"max_new_tokens": "8", "k": "4", "P": "2", "A": "2", "model": f"lab/good@{commit}"}
    assert (row.plan["temperature"], row.plan["seed"]) == (0.5, 3)
    assert row.plan["seconds"] == services.settings.model_hours * 3_600
    assert row.plan["entry"]["name"] == "Mine"
    assert f"lab/good@{commit}" in row.plan["entry"]["description"]
    assert Worker(services).run_until_idle() == 0, "a worker of the cpu queue leaves it alone"


@pytest.mark.parametrize(
    ("card", "decoding"),
    [
        (SystemCard("M", "other"), {}),
        (CARD_IN, {"colour": 1}),
        (CARD_IN, {"model": 1}),
        (CARD_IN, {"shots": 4}),
        (CARD_IN, {"k": 101}),
        (CARD_IN, {"temperature": -0.1}),
        (CARD_IN, {"k": 2, "P": 3}),
        (SystemCard("", "retrieve-then-read"), {}),
        (dataclasses.replace(CARD_IN, description="x" * 4_001), {}),
    ],
)
def test_plans_that_make_no_sense(
    services: Services, tmp_path: Path, hub: FakeHub, card: SystemCard, decoding: dict[str, int]
) -> None:
    add_benchmark(services, tmp_path / "files")
    with pytest.raises(InvalidInput):
        models.submit(services, add_team(services), "lab/good", "small", card, decoding, hub=Hub(hub.url))
    assert hub.asked == [], "it is told before the Hub is asked"


def test_the_days_models(services: Services, tmp_path: Path, hub: FakeHub) -> None:
    add_benchmark(services, tmp_path / "files")
    team = add_team(services)
    few = build(dataclasses.replace(services.settings, models_per_day=1))
    models.submit(few, team, "lab/good", "small", CARD_IN, {}, hub=Hub(hub.url))
    with pytest.raises(OverQuota, match="1 of 1 models"):
        models.submit(few, team, "lab/good", "small", CARD_IN, {}, hub=Hub(hub.url))
    with services.database.transaction() as session:
        session.scalars(select(RunRow)).one().state = "failed"
    models.submit(few, team, "lab/good", "small", CARD_IN, {}, hub=Hub(hub.url))
    with pytest.raises(OverQuota):
        off = build(dataclasses.replace(services.settings, models_per_day=0))
        models.submit(off, add_team(services, "two"), "lab/good", "small", CARD_IN, {}, hub=Hub(hub.url))


@pytest.fixture
def api(services: Services, tmp_path: Path, hub: FakeHub) -> FlaskClient:
    """The API, whose Hub is the fake one."""
    add_benchmark(services, tmp_path / "files")
    return web.create(build(dataclasses.replace(services.settings, hub_endpoint=hub.url))).test_client()


def test_over_the_api(api: FlaskClient, services: Services, hub: FakeHub) -> None:
    headers = bearer(services)
    hub.model("lab/bad", files=GOOD | {"model.safetensors": b""}, info={})
    good = api.post(f"{API}/models/check", headers=headers, json={"reference": "lab/good"})
    assert (good.status_code, good.json["refusals"], good.json["licence"]) == (200, [], "mit")
    bad = api.post(f"{API}/models/check", headers=headers, json={"reference": "lab/bad"})
    assert (bad.status_code, bad.json["refusals"]) == (200, ["Its card names no licence."])
    said = {"reference": "lab/bad", "benchmark": "small", "system": "M", "architecture": "post-hoc-retrieval"}
    refused = api.post(f"{API}/models", headers=headers, json=said)
    assert (refused.status_code, "names no licence" in refused.json["error"]["message"]) == (422, True)
    decoding = {"max_new_tokens": 4, "shots": 2, "temperature": 0.0}
    made = api.post(f"{API}/models", headers=headers, json=said | {"reference": "lab/good", "decoding": decoding})
    assert (made.status_code, made.json["state"], made.json["model"].split("@")[0]) == (202, "queued", "lab/good")
    at = f"{API}/models/{made.json['id']}"
    assert api.get(at, headers=headers).json == made.json
    assert api.get(f"{API}/models", headers=headers).json["runs"] == [made.json]
    assert api.get(at, headers=bearer(services, "two")).status_code == 404
    assert api.get(at, headers=bearer(services, "rater", "rater")).status_code == 403
    for wrong in ({"decoding": {"colour": 1}}, {"architecture": "other"}, {"decoding": {"k": 10**9}}, {"seed": -1}):
        assert api.post(f"{API}/models", headers=headers, json=said | wrong).status_code == 400, wrong


def aqa(settings: Settings, hub: FakeHub, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own, for which the fake Hub is the Hub; a token of the machine stands around."""
    environment = os.environ | {
        "AQA_DATA_DIR": settings.data_dir, "AQA_DATABASE_URL": settings.database_url, "AQA_JUDGE": "token-overlap",
        "AQA_BOOTSTRAP_RESAMPLES": "199", "AQA_HUB_ENDPOINT": hub.url, "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_ENDPOINT": "http://127.0.0.1:9", "HF_TOKEN": MACHINE_TOKEN, "AQA_HUB_TOKEN": hub.token,
        "HF_HOME": f"{settings.data_dir}/hf", "OMP_NUM_THREADS": "1", "HF_HUB_DISABLE_XET": "1",
    }  # fmt: skip
    environment.pop("HF_HUB_OFFLINE", None)
    command = [sys.executable, "-c", "from server.cli import main; main()", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240, check=False)


def test_end_to_end_with_a_tiny_model(sqlite_url: str, tmp_path: Path, hub: FakeHub) -> None:
    pytest.importorskip("torch")
    from tests.tiny_causal import random_causal

    folder = random_causal(tmp_path / "tiny")
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    # A byte is a token here, so a prompt needs room; rotary positions have no fixed number.
    files["config.json"] = files["config.json"].replace(
        b'"max_position_embeddings": 512', b'"max_position_embeddings": 9999'
    )
    marker = tmp_path / "code ran"
    files["modeling_evil.py"] = f"open({str(marker)!r}, 'w')".encode()
    files["pytorch_model.bin"] = b"a pickle that must not be fetched"
    hub.model("lab/tiny", files=files, info=CARD)
    services = build(Settings(data_dir=str(tmp_path / "data"), database_url=sqlite_url, bootstrap_resamples=199))
    add_benchmark(services, tmp_path / "files")
    team = add_team(services, "Lab")

    looked_at = aqa(services.settings, hub, "model", "check", "lab/tiny", "--json")
    assert looked_at.returncode == 0, looked_at.stderr
    pinned = json.loads(looked_at.stdout)["pinned"]
    refused = aqa(services.settings, hub, "model", "check", "lab/good@nowhere")
    assert (refused.returncode, "nowhere" in refused.stderr) == (2, True)
    chosen = ["--set", "max_new_tokens=4", "--set", "k=2", "--set", "P=1", "--set", "A=1", "--publish"]
    said = ["--benchmark", "small", "--system", "Tiny", "--team", "Lab", "--json", *chosen]
    queued = aqa(services.settings, hub, "model", "run", "lab/tiny@main", *said)
    assert queued.returncode == 0, queued.stderr
    worked = aqa(services.settings, hub, "worker", "--queue", "gpu", "--queue", "cpu", "--until-idle")
    assert worked.returncode == 0, worked.stderr

    with services.database.reading() as session:
        run = session.get_one(RunRow, json.loads(queued.stdout)["id"])
        assert run.reason is None, worked.stderr
        entry = session.scalars(select(Submission)).one()
        assert (run.state, run.submission_id, run.plan["changes"]["model"]) == ("done", entry.id, pinned), worked.stderr
        assert (entry.state, entry.system.name, entry.system.team_id) == ("scored", "Tiny", team)
        assert entry.published_at is not None
        assert pinned in run.details["signature"]
        assert "max_new_tokens=4" in run.details["signature"]
    fetched = {path.rsplit("/", 1)[1] for _, path in hub.asked if "/resolve/" in path and "lab/tiny" in path}
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= fetched
    assert not {name for name in fetched if name.endswith((".py", ".bin"))}
    assert not marker.exists()
    assert hub.tokens == set(), "neither the machine's token nor the service's goes along for a team's model"
    services.database.engine.dispose()


@pytest.mark.parametrize("spec", ["openai:gpt@http://evil.example/v1", "/etc", "./x/y", "smollm2"])
def test_no_other_spec_reaches_a_backend(services: Services, tmp_path: Path, spec: str) -> None:
    add_benchmark(services, tmp_path / "files")
    team = add_team(services)
    entry = dataclasses.asdict(CARD_IN)
    plan = RunPlan(changes={"model": spec}, entry=entry | {"links": []})
    with pytest.raises(InvalidInput, match="names no language model"):
        nothing = dataclasses.replace(plan, changes={"model": "answers:/etc/passwd"})
        runs.start(services, "Small-RTR", "small", nothing, team_id=team)
    made = runs.start(services, "Small-RTR", "small", plan, team_id=team)
    Worker(services).run_until_idle()
    with services.database.reading() as session:
        row = session.get_one(RunRow, made)
        assert (row.state, row.submission_id) == ("failed", None)
        assert "is not a reference to a model" in str(row.reason) or "cannot name a repository" in str(row.reason)


def test_whose_token_goes_where(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quiet_client: None
) -> None:
    monkeypatch.setenv("HF_TOKEN", MACHINE_TOKEN)
    ours, open_to_all = Settings(hub_endpoint=hub.url, hub_token="hf_ours"), Settings(hub_endpoint=hub.url)
    for settings, sent in ((open_to_all, set()), (ours, {"hf_ours"})):
        hub.tokens.clear()
        with reaching_hub(HubAccess.from_settings(settings)):
            assert fetch("lab/good")[0].identity == f"lab/good@{check(Hub(hub.url), 'lab/good', RULES).commit}"
        assert hub.tokens == sent
    assert HubAccess.from_settings(Settings()) == MACHINE, "without a Hub of ours all is as the machine has it"
    assert HubAccess.from_settings(ours).open_to_all() == HubAccess(hub.url, False)
