"""Whatever is sent to the API, it answers as its OpenAPI document says, and never with a fault of ours."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import checks

from core.settings import Settings
from server import auth, models, outbound, references, web
from server.api import PREFIX
from server.bootstrap import Services, build
from server.worker import Worker
from tests.small_benchmark import add_benchmark
from tests.web_client import bearer, submit, token

REQUESTS = 12
"""Per operation and run; some 600 in all."""
CHECKS = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
    checks.response_headers_conformance,
]


@dataclass
class Ground:
    """A service with one of everything in it."""

    services: Services
    schema: schemathesis.BaseSchema
    real: dict[str, str]


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    folder = tmp_path_factory.mktemp("fuzz")
    services = build(
        Settings(
            data_dir=str(folder / "data"),
            bootstrap_resamples=99,
            open_registration=True,
            submissions_per_day=0,
            rate_limit="",
            rate_limit_files="",
            rate_limit_sign_in="",
            rate_limit_register="",
        )
    )
    services.database.ensure_current()
    add_benchmark(services, folder / "files")
    app = web.create(services)
    client = app.test_client()
    at = submit(client, bearer(services), publish="true")
    Worker(services).run_until_idle()
    real = {"submission_id": at, "benchmark_id": "small", "benchmark": "small"}
    patch = pytest.MonkeyPatch()
    patch.setattr(outbound.socket, "getaddrinfo", _nobody)
    for module in (models, references):
        patch.setattr(module, "briefly", lambda seconds: None)
    yield Ground(services, schemathesis.openapi.from_wsgi(f"{PREFIX}/openapi.json", app), real)
    patch.undo()
    services.database.engine.dispose()


def _nobody(*_: object, **__: object) -> list[object]:
    raise OSError("no name is looked up in a test")


def _requests(ground: Ground, label: str) -> int:
    """Send some requests to one operation; returns how many were accepted."""
    accepted = 0
    found = [each.ok() for each in ground.schema.get_all_operations()]
    operation = next(each for each in found if each.label == label)

    def send(mode: schemathesis.GenerationMode) -> Callable[[], None]:
        strategy = operation.as_strategy(generation_mode=mode)

        @settings(
            max_examples=REQUESTS, deadline=None, database=None, derandomize=True, phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(case=strategy, role=st.sampled_from([*auth.ROLES, None]), real=st.booleans())
        def sent(case: schemathesis.Case, role: str | None, real: bool) -> None:
            nonlocal accepted
            if real:
                for place in (case.path_parameters, case.query):
                    place.update({name: value for name, value in ground.real.items() if name in (place or {})})
            headers = {} if role is None else {"Authorization": f"Bearer {token(ground.services, role, role)}"}
            response = case.call(headers=headers)
            case.validate_response(response, checks=CHECKS, headers=headers)
            accepted += response.status_code < 300

        return sent

    send(schemathesis.GenerationMode.POSITIVE)()
    with contextlib.suppress(Unsatisfiable):  # an operation without parameters cannot be asked wrongly
        send(schemathesis.GenerationMode.NEGATIVE)()
    return accepted


def test_every_operation_keeps_to_the_document(ground: Ground, subtests: pytest.Subtests) -> None:
    labels = [each.ok().label for each in ground.schema.get_all_operations()]
    assert len(labels) > 35
    accepted = {}
    for label in labels:
        with subtests.test(label):
            accepted[label] = _requests(ground, label)
    assert sum(count > 0 for count in accepted.values()) > len(labels) / 3, accepted
