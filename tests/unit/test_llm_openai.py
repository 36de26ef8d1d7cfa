"""The HTTP backend against a scripted endpoint on a real socket."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

pytest.importorskip("openai")

from core.errors import InvalidInput, NotFound, Unavailable
from systems import llm
from systems.llm.openai import client_for


class Endpoint:
    """Answers `echo PROMPT`; before that, each of `troubles` once: (status, headers, body)."""

    def __init__(self) -> None:
        self.troubles: list[tuple[int, dict[str, str], Any]] = []
        self.asked: list[tuple[str, dict[str, Any], str]] = []
        self.usage: dict[str, Any] = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
        self.finish = "stop"
        self.say: Any = lambda prompt: f"echo {prompt}"
        self.slow: dict[str, float] = {}
        self.drip = 0.0
        self.at_once = self.most_at_once = 0
        self.lock = threading.Lock()

    def answer(self, path: str, body: dict[str, Any], key: str) -> tuple[int, dict[str, str], Any]:
        with self.lock:
            self.asked.append((path, body, key))
            if self.troubles:
                return self.troubles.pop(0)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        prompt = body["prompt"] if "prompt" in body else body["messages"][0]["content"]
        time.sleep(self.slow.get(prompt, 0))
        with self.lock:
            self.at_once -= 1
        text = self.say(prompt)
        said = {"text": text} if "prompt" in body else {"message": {"role": "assistant", "content": text}}
        choice = {"index": 0, "finish_reason": self.finish} | said
        return 200, {}, {"id": "1", "object": "x", "created": 0, "model": "m", "choices": [choice], "usage": self.usage}


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    scripted = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, headers, told = scripted.answer(self.path, body, self.headers.get("Authorization", ""))
            sent = told if isinstance(told, bytes) else json.dumps(told).encode()
            self.send_response(status)
            for name, value in {
                "Content-Type": "application/json",
                "Content-Length": str(len(sent)),
                **headers,
            }.items():
                self.send_header(name, value)
            self.end_headers()
            with suppress(ConnectionError):  # who has read enough goes away
                for piece in [sent] if not scripted.drip else [sent[at : at + 1] for at in range(len(sent))]:
                    time.sleep(scripted.drip)
                    self.wfile.write(piece)

        def log_message(self, *told: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    scripted.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    yield scripted
    server.shutdown()
    server.server_close()


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def trouble(status: int, message: str = "no", **headers: str) -> tuple[int, dict[str, str], dict[str, Any]]:
    return status, {name.replace("_", "-"): value for name, value in headers.items()}, {"error": {"message": message}}


def test_order_is_kept_while_several_are_under_way(endpoint: Endpoint):
    prompts = [f"p{at}" for at in range(6)]
    endpoint.slow = {"p0": 0.3, "p1": 0.2}
    told = llm.load(f"openai:m@{endpoint.url}", concurrency=3).generate(prompts, max_new_tokens=5)
    assert [each.text for each in told] == [f"echo {prompt}" for prompt in prompts]
    assert 2 <= endpoint.most_at_once <= 3


@pytest.mark.parametrize("kind, path", [("openai", "/v1/chat/completions"), ("openai-text", "/v1/completions")])
def test_what_is_asked(endpoint: Endpoint, kind: str, path: str):
    model = llm.load(f"{kind}:owner/m@latest@{endpoint.url}", seed=3)
    told = model.generate(["hello"], max_new_tokens=5, stop=["\n", "x", "y", "z", "hel"])[0]
    ((asked_path, body, _),) = endpoint.asked
    assert asked_path == path
    assert body["model"] == "owner/m@latest"
    assert (body["temperature"], body["seed"], body["max_tokens"]) == (0, 3, 5)
    assert body["stop"] == ["\n", "x", "y", "z"], "endpoints take four"
    assert (told.text, told.finish) == ("echo ", "stop"), "the fifth is cut here"
    assert (told.prompt_tokens, told.new_tokens, told.cost) == (7, 3, None)
    assert model.signature.endswith(f"|form={'chat' if kind == 'openai' else 'text'}|temperature=0|seed=3")
    assert endpoint.url in model.signature


def test_passing_troubles_are_tried_again(endpoint: Endpoint):
    soon = {"retry_after_ms": "1"}
    endpoint.troubles = [trouble(429, **soon), trouble(503, **soon), trouble(500, **soon)]
    assert llm.load(f"openai:m@{endpoint.url}").generate(["hello"], max_new_tokens=5)[0].text == "echo hello"
    assert len(endpoint.asked) == 4


@pytest.mark.parametrize(
    "status, error, words",
    [
        (401, Unavailable, "refused the key"),
        (403, Unavailable, "refused the key"),
        (404, NotFound, "has no model 'm'"),
        (400, InvalidInput, "too long"),
        (429, Unavailable, "quota"),
        (500, Unavailable, "failed"),
    ],
)
def test_lasting_troubles_are_told_apart(endpoint: Endpoint, status: int, error: type[Exception], words: str):
    endpoint.troubles = [trouble(status, "it is too long", retry_after_ms="1") for _ in range(9)]
    with pytest.raises(error, match=words) as caught:
        llm.load(f"openai:m@{endpoint.url}").generate(["hello"], max_new_tokens=5)
    assert caught.value.hint
    assert len(endpoint.asked) == (6 if status in (429, 500) else 1)


def test_nobody_at_the_address():
    with pytest.raises(Unavailable, match="cannot be reached"):
        model = llm.load("openai:m@http://127.0.0.1:9/v1")
        model.client.max_retries = 0
        model.generate(["hello"], max_new_tokens=5)


def test_an_endpoint_that_wants_the_other_limit_gets_it_from_then_on(endpoint: Endpoint):
    endpoint.troubles = [trouble(400, "Unsupported parameter: use 'max_completion_tokens' instead.")]
    model = llm.load(f"openai:m@{endpoint.url}", concurrency=1)
    model.generate(["a", "b"], max_new_tokens=5)
    bodies = [body for _, body, _ in endpoint.asked]
    assert ["max_tokens" in body for body in bodies] == [True, False, False]
    assert [body.get("max_completion_tokens") for body in bodies] == [None, 5, 5]


def test_costs_are_told_or_reckoned(endpoint: Endpoint):
    priced = llm.load(f"openai:m@{endpoint.url}", prices=(1.0, 10.0))
    assert priced.generate(["a"], max_new_tokens=5)[0].cost == pytest.approx((7 * 1 + 3 * 10) / 1e6)
    endpoint.usage = endpoint.usage | {"cost": 0.25}
    assert priced.generate(["a"], max_new_tokens=5)[0].cost == 0.25
    endpoint.usage = None
    told = priced.generate(["a"], max_new_tokens=5)[0]
    assert (told.prompt_tokens, told.new_tokens, told.cost) == (0, 0, None)


def test_an_empty_or_cut_text_is_one(endpoint: Endpoint):
    endpoint.say, endpoint.finish = (lambda prompt: None), "content_filter"
    told = llm.load(f"openai:m@{endpoint.url}").generate(["a"], max_new_tokens=5)[0]
    assert (told.text, told.finish) == ("", "content_filter")
    endpoint.say, endpoint.finish = (lambda prompt: "cut off"), "length"
    assert llm.load(f"openai:m@{endpoint.url}").generate(["a"], max_new_tokens=5)[0].finish == "length"


def test_the_key_comes_from_the_environment(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "a-key")
    llm.load(f"openai:m@{endpoint.url}").generate(["a"], max_new_tokens=5)
    assert endpoint.asked[0][2] == "Bearer a-key"


@pytest.mark.parametrize("spec", ["openai:", "openai:@http://127.0.0.1/v1", "smollm2:7b"])
def test_a_spec_without_a_model_is_refused(spec: str):
    with pytest.raises(InvalidInput):
        llm.load(spec)


CHOICE = b'"choices": [{"index": 0, "message": {"role": "assistant", "content": "hi"}}]'
GARBAGE = [
    b"<html>Bad gateway</html>", b"", b"[1]", b'"x"', b"null", b"{}", b'{"choices": null}', b'{"choices": []}',
    b'{"choices": [{}]}', b'{"choices": 3}', b'{"choices": {"a": 1}}', b'{"choices": [{"message": null}]}',
    b'{"choices": [{"message": {"content": 5}}]}', b'{"error": {"message": "overloaded"}}',
    '{"choices": [{"message": {"content": "é"}}]}'.encode("latin-1"), CHOICE[:30],
]  # fmt: skip


@pytest.mark.parametrize("garbage", GARBAGE)
def test_garbage_is_asked_for_again_and_told_if_it_lasts(endpoint: Endpoint, garbage: bytes):
    model = llm.load(f"openai:m@{endpoint.url}")
    endpoint.troubles = [(200, {}, garbage)]
    assert model.generate(["hello"], max_new_tokens=5)[0].text == "echo hello"
    endpoint.troubles = [(200, {}, garbage)] * 3
    with pytest.raises(Unavailable, match="3 times without a text") as caught:
        model.generate(["hello"], max_new_tokens=5)
    assert "/v1" in caught.value.hint
    assert len(endpoint.asked) == 5


@pytest.mark.parametrize(
    "usage",
    [
        b"NaN", b"3", b"null", b'{"prompt_tokens": NaN, "completion_tokens": Infinity, "cost": NaN}',
        b'{"prompt_tokens": null, "completion_tokens": "x", "cost": "1"}',
        b'{"prompt_tokens": -7, "completion_tokens": true, "cost": -1}', b'{"prompt_tokens": 1e999, "cost": true}',
    ],
)  # fmt: skip
def test_counts_that_are_none_are_none(endpoint: Endpoint, usage: bytes):
    """NaN in a sum would end no budget, and be no JSON."""
    endpoint.troubles = [(200, {}, b"{" + CHOICE + b', "usage": ' + usage + b"}")]
    told = llm.load(f"openai:m@{endpoint.url}").generate(["hello"], max_new_tokens=5)[0]
    assert (told.text, told.usage) == ("hi", {"prompt_tokens": 0, "new_tokens": 0, "cost": None})


def test_texts_in_parts_and_what_cannot_be_stored(endpoint: Endpoint):
    endpoint.say = lambda prompt: [
        {"type": "text", "text": "a\0b"},
        {"type": "image"},
        {"type": "text", "text": "\ud83d"},
    ]
    assert llm.load(f"openai:m@{endpoint.url}").generate(["x"], max_new_tokens=5)[0].text == "ab\ufffd"
    endpoint.say = lambda prompt: "\ud83d\ude00"
    assert llm.load(f"openai:m@{endpoint.url}").generate(["x"], max_new_tokens=5)[0].text == "😀"


def test_an_address_that_leads_elsewhere(endpoint: Endpoint):
    endpoint.troubles = [(302, {}, {})]
    with pytest.raises(InvalidInput, match="leads elsewhere"):
        llm.load(f"openai:m@{endpoint.url}").generate(["x"], max_new_tokens=5)


ODD = [
    (b"[" * 200_000, "not JSON"),
    (b'{"choices": [' + b"x" * (9 * 2**20), "larger than 8 MiB"),
]


@pytest.mark.parametrize(("body", "told"), ODD, ids=["deep", "endless"])
def test_an_answer_that_would_take_all_memory_is_no_answer(endpoint: Endpoint, body: bytes, told: str):
    endpoint.troubles = [(200, {}, body)] * 3
    model = llm.load(f"openai:m@{endpoint.url}")
    model.client = model.client.with_options(max_retries=0)
    with pytest.raises(Unavailable, match=told):
        model.generate(["x"], max_new_tokens=5)


def test_a_packed_answer_is_not_unpacked(endpoint: Endpoint):
    endpoint.troubles = [(200, {"Content-Encoding": "gzip"}, gzip.compress(b" " * 2**20))]
    model = llm.load(f"openai:m@{endpoint.url}")
    model.client = model.client.with_options(max_retries=0)
    with pytest.raises(Unavailable, match="packed"):
        model.generate(["x"], max_new_tokens=5)


@pytest.mark.parametrize("tokens", [10**400, 10**20, 1e300, -1, True])
def test_counts_that_nobody_can_mean_count_as_none(endpoint: Endpoint, tokens: float):
    endpoint.usage = {"prompt_tokens": tokens, "completion_tokens": 3}
    endpoint.finish = "st\ud800op" * 100
    [found] = llm.load(f"openai:m@{endpoint.url}").generate(["x"], max_new_tokens=5)
    assert (found.prompt_tokens, found.new_tokens) == (0, 3)
    assert "\ud800" not in found.finish
    assert len(found.finish) <= 120


def test_an_answer_that_comes_by_drips_ends(endpoint: Endpoint):
    endpoint.drip = 0.2
    model = llm.load(f"openai:m@{endpoint.url}")
    model.client = client_for(endpoint.url, retries=0, timeout=1.0)
    with pytest.raises(Unavailable, match="in time"):
        model.generate(["x"], max_new_tokens=5)


def test_an_endpoint_that_does_not_answer_in_time(endpoint: Endpoint):
    endpoint.slow = {"x": 5.0}
    model = llm.load(f"openai:m@{endpoint.url}")
    model.client = model.client.with_options(timeout=0.1, max_retries=1)
    begun = time.monotonic()
    with pytest.raises(Unavailable, match="did not answer in time") as caught:
        model.generate(["x", "x"], max_new_tokens=5)
    assert "kept" in caught.value.hint
    assert time.monotonic() - begun < 4
