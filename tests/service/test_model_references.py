"""Models by reference: looked at before anything heavy is fetched, and refused with every reason."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from typing import Any

import pytest

from core.errors import Forbidden, InvalidInput, NotFound, Refused, Unavailable
from submissions.sources.hub import Hub
from submissions.sources.model import Rules, check, parse
from tests.fake_hub import FakeHub
from tests.hub_models import CARD, CONFIG, GOOD, RULES, good_hub


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    with good_hub() as running:
        yield running


def looked(hub: FakeHub, files: dict[str, bytes | None], info: dict[str, Any] | None = None, rules: Rules = RULES):
    """What is found of a model that differs from the good one in some files."""
    kept = {name: data for name, data in (GOOD | files).items() if data is not None}
    hub.repos[("models", "lab/other")] = hub.model(
        f"lab/x{len(hub.repos)}", files=kept, info=CARD if info is None else info
    )
    return check(Hub(hub.url), "lab/other", rules)


def test_a_good_model_is_pinned(hub: FakeHub) -> None:
    found = check(Hub(hub.url), "lab/good@main", RULES)
    assert found.refusals == ()
    assert found.pinned == f"lab/good@{found.commit}"
    assert (found.architecture, found.licence, len(found.commit)) == ("LlamaForCausalLM", "mit", 40)
    assert found.fetched_bytes == sum(len(GOOD[name]) for name in GOOD if name != "README.md")
    read = [path for _, path in hub.asked if "/resolve/" in path]
    assert {path.rsplit("/", 1)[1] for path in read} == {"config.json"}, "no weights were fetched"
    assert hub.tokens == set(), "no token of ours went along"


@pytest.mark.parametrize(
    ("files", "info", "reason"),
    [
        ({"model.safetensors": None, "pytorch_model.bin": b"x"}, None, "no safetensors weights (pytorch_model.bin can"),
        ({"model.safetensors": None}, None, "no safetensors weights."),
        ({"model.safetensors": None, "sub/model.safetensors": b"x"}, None, "no safetensors weights."),
        ({"model.safetensors": b"w" * 2_000_000}, None, "0.0 GB; the limit is 0.0 GB"),
        ({"config.json": None}, None, "no config.json"),
        ({"config.json": b"[1]"}, None, "no config.json that can be read"),
        ({"config.json": b"{broken"}, None, "no config.json that can be read"),
        ({"config.json": b'{"architectures": ["BertModel"]}'}, None, "does not write text"),
        (
            {"config.json": b'{"architectures": ["A", "B", "C", "D"]}'},
            None,
            "its config.json names A, B, C, not a class",
        ),
        ({"config.json": b"{}"}, None, "its config.json names no architecture (a class that ends in"),
        ({"config.json": b'{"architectures": null}'}, None, "its config.json names no architecture"),
        ({"config.json": b'{"architectures": []}'}, None, "its config.json names no architecture"),
        ({"config.json": b'{"architectures": "LlamaForCausalLM"}'}, None, "its config.json names no architecture"),
        ({"config.json": b'{"architectures": 5}'}, None, "its config.json names no architecture"),
        ({"config.json": json.dumps(CONFIG | {"auto_map": {"AutoModel": "m.M"}}).encode()}, None, "code of its own"),
        ({"tokenizer_config.json": b'{"auto_map": {"AutoTokenizer": ["t.T", null]}}'}, None, "code of its own"),
        ({}, CARD | {"tags": ["custom_code"]}, "code of its own"),
        ({"config.json": json.dumps(CONFIG | {"quantization_config": {"a": 1}}).encode()}, None, "quantised"),
        ({"tokenizer.json": None}, None, "no tokenizer"),
        (
            {"model.safetensors.index.json": b'{"weight_map": {"a": "model-2.safetensors"}}'},
            None,
            "model-2.safetensors",
        ),
        ({}, {}, "names no licence"),
        ({}, {"cardData": {"license": "other"}}, "licence is 'other'"),
    ],
)
def test_what_is_refused(
    hub: FakeHub, files: dict[str, bytes | None], info: dict[str, Any] | None, reason: str
) -> None:
    found = looked(hub, files, info)
    assert any(reason in each for each in found.refusals), found.refusals
    with pytest.raises(Refused):
        found.demand()


def test_every_reason_is_told_at_once(hub: FakeHub) -> None:
    found = looked(hub, {"config.json": None, "model.safetensors": None, "tokenizer.json": None}, {})
    assert len(found.refusals) == 4


def test_any_licence_that_is_named(hub: FakeHub) -> None:
    assert looked(hub, {}, {"cardData": {"license": "other"}}, dataclasses.replace(RULES, licences=())).refusals == ()


@pytest.mark.parametrize(
    "text",
    ["", "good", "/etc/passwd", "./folder", "~/x", "a/b/c", "openai:gpt@http://169.254.169.254/v1", "../x", "lab/../x",
     "https://evil.example/lab/good", "hf://lab/good", "lab/good@../../x", "lab/good@\x00", "lab/gööd",
     "openai:gpt-5@http://evil.example/v1", "openai-text:lab/good", "answers:/etc/passwd", "answers:lab/good",
     "smollm2", "transformers:lab/good", "C:/lab", "lab/good/", "/lab/good", "lab//good", "file:///lab/good"],
)  # fmt: skip
def test_only_models_of_the_hub_are_references(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse(text)


def test_missing_private_gated_and_busy(hub: FakeHub) -> None:
    hub.model("lab/gated", files=dict(GOOD), info=CARD, gated=True)
    hub.model("lab/private", files=dict(GOOD), info=CARD, private=True)
    waits: list[float] = []
    asking = Hub(hub.url, pause=waits.append)
    for name, error in (("lab/none", NotFound), ("lab/private", NotFound), ("lab/gated", (Refused, Forbidden))):
        with pytest.raises(error):
            check(asking, name, RULES)
    with pytest.raises(NotFound, match="revision"):
        check(asking, "lab/good@nowhere", RULES)
    hub.busy = 2
    assert check(asking, "lab/good", RULES).refusals == ()
    assert waits
    hub.busy = 99
    with pytest.raises(Unavailable, match="429"):
        check(asking, "lab/good", RULES)
