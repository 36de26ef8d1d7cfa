"""Faults of the machine and of the network in words, outputs that appear together, and settings with an upper bound."""

from __future__ import annotations

import errno
import io
import socket
from pathlib import Path

import httpx
import pytest

from core.errors import InvalidInput, Unavailable
from core.settings import Settings
from scorer.outputs import files
from server.cli.console import stdout
from server.client import Client
from submissions.report import report_to_dict
from tests.small_benchmark import GOOD, add_benchmark, jsonl


def test_a_refused_connection_is_told_without_numbers() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(Unavailable) as raised:
        Client(f"http://127.0.0.1:{port}").status("x")
    assert raised.value.message == f"127.0.0.1:{port} refused the connection."
    assert "Errno" not in raised.value.message + raised.value.hint


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (httpx.ReadTimeout("timed out"), "aqa.example did not answer in time."),
        (httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] x"), "The certificate of aqa.example is not trusted."),
        (httpx.ConnectError("[Errno 113] No route to host"), "aqa.example cannot be reached."),
        (httpx.RemoteProtocolError("Server disconnected"), "The connection to aqa.example broke off."),
    ],
)
def test_other_faults_of_the_network(error: httpx.HTTPError, told: str) -> None:
    def fails(request: httpx.Request) -> httpx.Response:
        raise error

    with pytest.raises(Unavailable) as raised:
        Client("https://aqa.example", transport=httpx.MockTransport(fails)).status("x")
    assert raised.value.message == told


def test_resamples_have_an_upper_bound() -> None:
    for text in ("99", "100001", "1000000000000"):
        with pytest.raises(InvalidInput, match=r"is not between 100 and 100,000\."):
            Settings.from_environment({"AQA_BOOTSTRAP_RESAMPLES": text})
    assert Settings.from_environment({"AQA_BOOTSTRAP_RESAMPLES": "100000"}).bootstrap_resamples == 100_000


@pytest.mark.parametrize("before", [True, False])
def test_on_a_full_disk_outputs_appear_together_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: bool
) -> None:
    from scorer.outputs import Source, from_evaluation, write_all
    from server.bootstrap import build

    services = build(Settings(judge="token-overlap", data_dir=str(tmp_path / "data"), bootstrap_resamples=100))
    services.database.ensure_current()
    benchmark = add_benchmark(services, tmp_path / "files")
    read = services.intake.validate("small", io.BytesIO(jsonl(GOOD)), "p.jsonl")
    found = services.scorer.score(benchmark, read.predictions)
    outputs = from_evaluation(services.database, benchmark, read.digest, found, report_to_dict(read.report))
    source, folder = Source("p.jsonl", "0" * 64, 1, "aqa score"), tmp_path / "out"
    if before:
        write_all(outputs, folder, source, ("jsonl",))
    held = {path.name: path.read_bytes() for path in folder.iterdir()} if before else {}

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setitem(files.KINDS, "csv", full)
    with pytest.raises(OSError, match="No space"):
        write_all(outputs, folder, source, ("jsonl", "csv"))
    assert folder.exists() is before
    if before:
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == held
    services.database.engine.dispose()


def test_paths_are_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    from server.cli import export, ratings, score

    for module in (export, ratings, score):
        source = Path(str(module.__file__)).read_text()
        for part in source.split("stdout().print(")[1:]:
            statement = part.split("\n\n")[0]
            if "Written to" in statement:
                assert "markup=False" in statement, module.__name__
    stdout().print("Written to /tmp/[bold]x[/].", markup=False, soft_wrap=True)
    assert capsys.readouterr().out == "Written to /tmp/[bold]x[/].\n"
