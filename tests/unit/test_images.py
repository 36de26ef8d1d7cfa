"""Dockerfile and compose.yaml: only settings and commands that there are, and what the docs promise of the images."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from typer.main import get_command

from core.settings import PREFIX, Settings
from server.cli import app
from tests.dockerfile import ROOT, chain, command, environment, stages

STAGES = stages((ROOT / "Dockerfile").read_text())
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
OURS = {name: each for name, each in SERVICES.items() if "build" in each}
KNOWN = {PREFIX + f.name.upper() for f in fields(Settings)}


def test_every_setting_is_known() -> None:
    for target in ("web", "worker"):
        assert {name for name in environment(chain(STAGES, target)) if name.startswith(PREFIX)} <= KNOWN
    assert OURS.keys() == {"web", "worker-cpu", "worker-gpu", "migrate"}
    for service in OURS.values():
        given = {
            name: re.sub(r"\$\{\w+:[?-](.*)\}", r"\1", str(value)) for name, value in service["environment"].items()
        }
        ours = {name: value for name, value in given.items() if name.startswith(PREFIX)}
        assert ours.keys() <= KNOWN
        assert service["environment"] == OURS["web"]["environment"], "all processes are told the same"
        assert Settings.from_environment(ours).embedded_worker is False


@pytest.mark.parametrize("words", [command(chain(STAGES, t)) for t in ("web", "worker")] + [
    service["command"] for service in OURS.values() if "command" in service
])  # fmt: skip
def test_every_command_is_one_of_ours(words: list[str]) -> None:
    assert words[0] == "aqa"
    verbs = [word for word in words[1:] if not word.startswith("-")][: 2 if words[1] == "db" else 1]
    told = CliRunner().invoke(get_command(app), [*verbs, "--help"], env={"COLUMNS": "200"})
    assert told.exit_code == 0, told.output
    assert all(option in told.output for option in words if option.startswith("--"))


def test_images_and_services_fit() -> None:
    for service in OURS.values():
        assert service["build"]["target"] in STAGES
        assert service["build"]["target"] == service["image"].removeprefix("aqa-")
        assert set(service["depends_on"]) <= SERVICES.keys()
    port = str(Settings().port)
    assert OURS["web"]["ports"] == [f"{port}:{port}"]
    assert STAGES["web"].all("EXPOSE") == [port]
    assert "command" not in OURS["web"], "it runs what the image says"
    served = {q for name in ("worker-cpu", "worker-gpu") for q in OURS[name]["command"] if q in ("cpu", "gpu")}
    image = {word for word in command(chain(STAGES, "worker")) if word in ("cpu", "gpu")}
    assert served == image == {"cpu", "gpu"}
    grace = int(OURS["worker-cpu"]["stop_grace_period"].removesuffix("s"))
    assert grace > Settings().grace_seconds, "a worker has time to give its job back"
    volumes = {volume.split(":")[0] for service in SERVICES.values() for volume in service.get("volumes", [])}
    assert volumes == COMPOSE["volumes"].keys()


def test_the_final_images_run_nothing_as_root_and_build_nothing() -> None:
    for target in ("web", "worker"):
        steps = chain(STAGES, target)
        words = [word for word, _ in steps]
        assert [rest for word, rest in steps if word == "USER"] == ["10001"]
        assert "RUN" not in words[words.index("USER") :]
        assert not any(tool in rest for word, rest in steps if word == "RUN" for tool in ("pip", "apt", "gcc"))
        (copied,) = [rest for word, rest in steps if word == "COPY"]
        assert copied == f"--from=build-{target} /opt/aqa /opt/aqa"
    assert "torch" not in " ".join(rest for _, rest in chain(STAGES, "build-web"))


def test_every_package_is_copied() -> None:
    """A package that the image lacks would only be missed at its first import."""
    copied = {rest.split()[0] for word, rest in chain(STAGES, "build") if word == "COPY" and len(rest.split()) == 2}
    listed = re.search(r"^packages = \[(.*?)^\]", (ROOT / "pyproject.toml").read_text(), re.MULTILINE | re.DOTALL)
    assert listed
    assert copied == {name.split(".")[0] for name in re.findall(r'"([\w.]+)"', listed[1])}
