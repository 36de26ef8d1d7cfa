"""Any OpenAI-compatible HTTP endpoint, asked by several threads at once."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from core.errors import InvalidInput, NotInstalled, Unavailable
from core.extras import how_to_install
from systems.llm.openai_answers import Answer, NoAnswer, read
from systems.llm.openai_errors import needs_other_limit, translated
from systems.llm.stopping import cut, storable
from systems.records import Completion

if TYPE_CHECKING:
    from openai import OpenAI

CONCURRENCY, RETRIES, TIMEOUT = 4, 5, 120.0
_READINGS = 3
"""How often one prompt is sent where what comes back holds no text."""
_MOST_STOPS = 4
"""Endpoints take at most four; the rest are cut here."""


@dataclass
class OpenAIModel:
    """Chat or plain completions of one model; temperature 0 unless told otherwise.

    A prompt goes as one user message in chat form. The client repeats a call that met 408, 409, 429, 5xx or a broken
    connection, with growing waits and as `Retry-After` says. An endpoint may ignore the seed; temperature 0 does not
    make every endpoint deterministic.
    """

    name: str
    client: OpenAI
    chat: bool = True
    seed: int = 0
    temperature: float = 0.0
    concurrency: int = CONCURRENCY
    prices: tuple[float, float] | None = None
    """What a million prompt tokens and a million new tokens cost, where the endpoint does not tell the cost itself."""
    extra: dict[str, Any] = field(default_factory=dict)
    """Further fields of each request's body."""
    identity: str = ""
    """What stands in the signature in place of name and address."""
    _limit: str = "max_tokens"

    @property
    def batch(self) -> int:
        """Calls that are under way at a time."""
        return max(1, self.concurrency)

    @property
    def signature(self) -> str:
        """Model, address, form and decoding."""
        form = "chat" if self.chat else "text"
        what = self.identity or f"openai:{self.name}@{self.client.base_url}"
        return f"{what}|form={form}|temperature={self.temperature:g}|seed={self.seed}"

    def drawing(self, temperature: float, seed: int) -> OpenAIModel:
        """The same model with another temperature and seed."""
        return replace(self, temperature=temperature, seed=seed)

    def generate(self, prompts: Sequence[str], *, max_new_tokens: int, stop: Sequence[str] = ()) -> list[Completion]:
        """One completion per prompt, in their order; `concurrency` calls are under way at a time.

        Raises `InvalidInput` for a prompt that the endpoint refuses, `NotFound` for an unknown model, `Unavailable`
        for a key that is refused, or where calls fail, or hold no text, after all retries.
        """
        with ThreadPoolExecutor(self.batch) as pool:
            asked = [pool.submit(self._complete, prompt, max_new_tokens, tuple(stop)) for prompt in prompts]
            try:
                return [each.result() for each in asked]
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _complete(self, prompt: str, max_new_tokens: int, stop: tuple[str, ...]) -> Completion:
        answer = self._answer(prompt, max_new_tokens, stop)
        text, stopped = cut(storable(answer.text), stop)
        cost = self._reckoned(answer) if answer.cost is None else answer.cost
        finish = "stop" if stopped else storable(answer.finish)
        return Completion(text, answer.prompt_tokens, answer.new_tokens, finish, cost)

    def _answer(self, prompt: str, max_new_tokens: int, stop: tuple[str, ...]) -> Answer:
        """What the endpoint says, asked again where it says nothing that can be read: a proxy's page, no choice."""
        for attempt in range(1, _READINGS + 1):
            try:
                return read(self._ask(prompt, max_new_tokens, stop), chat=self.chat)
            except NoAnswer as error:
                if attempt == _READINGS:
                    raise Unavailable(
                        f"{self.client.base_url} answered {_READINGS} times without a text; at last with {error}",
                        "Does the address end in /v1, and is it OpenAI-compatible? What is done is kept.",
                    ) from None
        raise AssertionError("the loop returns or raises")

    def _ask(self, prompt: str, max_new_tokens: int, stop: tuple[str, ...]) -> bytes:
        from openai import BadRequestError, OpenAIError

        body: dict[str, Any] = {"model": self.name, "temperature": self.temperature, "seed": self.seed}
        body |= {"stop": list(stop[:_MOST_STOPS])} if stop else {}
        try:
            if not self.chat:
                create: Any = self.client.completions.with_raw_response.create
                return _content(create(prompt=prompt, max_tokens=max_new_tokens, extra_body=self.extra, **body))
            body["messages"] = [{"role": "user", "content": prompt}]
            try:
                return self._chat(body, max_new_tokens)
            except BadRequestError as error:
                if not needs_other_limit(error, self._limit):
                    raise
                self._limit = "max_completion_tokens"
                return self._chat(body, max_new_tokens)
        except OpenAIError as error:
            raise translated(error, self.name, str(self.client.base_url)) from error

    def _chat(self, body: dict[str, Any], max_new_tokens: int) -> bytes:
        create: Any = self.client.chat.completions.with_raw_response.create
        return _content(create(**body, **{self._limit: max_new_tokens}, extra_body=self.extra))

    def _reckoned(self, answer: Answer) -> float | None:
        if self.prices is None or not answer.prompt_tokens + answer.new_tokens:
            return None
        return (answer.prompt_tokens * self.prices[0] + answer.new_tokens * self.prices[1]) / 1e6


def _content(raw: Any) -> bytes:
    content: bytes = raw.http_response.content
    return content


def load_chat(where: str, *, seed: int = 0, **options: Any) -> OpenAIModel:
    """`MODEL@BASE_URL` by chat completions; without an address, the client's own default."""
    return _load(where, seed, True, options)


def load_text(where: str, *, seed: int = 0, **options: Any) -> OpenAIModel:
    """`MODEL@BASE_URL` by plain completions, which few-shot prompts suit best; not every endpoint has them."""
    return _load(where, seed, False, options)


def client_for(base_url: str | None, retries: int = RETRIES, timeout: float = TIMEOUT) -> OpenAI:
    """A client with the key that the `openai` package finds in the environment; local servers need none."""
    try:
        from openai import DefaultHttpxClient, OpenAI, OpenAIError, Timeout
    except ImportError:
        raise NotInstalled(
            "The package openai is not installed.", f"Install it with: {how_to_install('llm')}"
        ) from None
    from systems.bounded_answers import bounds

    own = sys.modules[Timeout.__init__.__module__.partition(".")[0]]  # httpx, under the name that it has there
    http = DefaultHttpxClient(**bounds(own, seconds=timeout), timeout=timeout)
    options: dict[str, Any] = {"base_url": base_url, "max_retries": retries, "timeout": timeout, "http_client": http}
    try:
        return OpenAI(**options)
    except OpenAIError:
        return OpenAI(**options, api_key="none")


def _load(where: str, seed: int, chat: bool, options: dict[str, Any]) -> OpenAIModel:
    name, _, address = where.partition("@http")
    if not name:
        raise InvalidInput(f"{where!r} names no model.", "Write openai:MODEL@http://HOST:PORT/v1.")
    return OpenAIModel(name, client_for(f"http{address}" if address else None), chat=chat, seed=seed, **options)
