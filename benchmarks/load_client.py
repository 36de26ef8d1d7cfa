"""Many users at once on one event loop, with so little work of their own that the server is what is measured."""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Request = Callable[[], bytes]
"""Makes one whole HTTP/1.1 request; a new one each time where its content must differ."""


@dataclass
class Times:
    """What users saw: seconds by kind of request, answers that were no success, and how long it all took."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    refused: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    wall: float = 0.0

    @property
    def rate(self) -> float:
        """Requests a second, all kinds together."""
        return sum(map(len, self.seconds.values())) / self.wall

    def table(self) -> dict[str, dict[str, float]]:
        """Per kind: how many, p50 and p95 in milliseconds, and how many were refused."""
        return {
            kind: {
                "n": len(all_),
                "p50_ms": round(1e3 * quantile(all_, 0.5), 1),
                "p95_ms": round(1e3 * quantile(all_, 0.95), 1),
                "refused": self.refused[kind],
            }
            for kind, all_ in sorted(self.seconds.items())
        }


def quantile(values: list[float], share: float) -> float:
    """The smallest value that at least this share of all does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def get(path: str, token: str = "") -> Request:
    """A GET, the same each time."""
    sign = f"Authorization: Bearer {token}\r\n" if token else ""
    made = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{sign}\r\n".encode()
    return lambda: made


def post(path: str, body: bytes, kind: str, token: str = "") -> bytes:
    """A POST with a body of a media type."""
    sign = f"Authorization: Bearer {token}\r\n" if token else ""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{sign}Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def form(path: str, fields: Mapping[str, str], name: str, data: bytes, token: str) -> bytes:
    """A POST of a multipart form with one file."""
    mark = "aqa-load-boundary"
    parts = [f'--{mark}\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n' for k, v in fields.items()]
    head = f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    body = "".join(parts).encode() + head.encode() + data + f"\r\n--{mark}--\r\n".encode()
    return post(path, body, f"multipart/form-data; boundary={mark}", token)


def load(port: int, requests: Mapping[str, tuple[float, Request]], users: int, seconds: float, seed: int = 0) -> Times:
    """Let users each send one request after another, without a pause, of kinds drawn by their weights."""
    return asyncio.run(_load(port, requests, users, seconds, seed))


async def _load(
    port: int, requests: Mapping[str, tuple[float, Request]], users: int, seconds: float, seed: int
) -> Times:
    times, begun = Times(), time.perf_counter()
    await asyncio.gather(
        *(_user(port, requests, begun + seconds, random.Random(seed + at), times) for at in range(users))
    )
    times.wall = time.perf_counter() - begun
    return times


async def _user(
    port: int, requests: Mapping[str, tuple[float, Request]], until: float, draw: random.Random, times: Times
) -> None:
    kinds, weights = list(requests), [weight for weight, _ in requests.values()]
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**20)
    while time.perf_counter() < until:
        kind = draw.choices(kinds, weights)[0]
        request = requests[kind][1]()
        begun = time.perf_counter()
        writer.write(request)
        status = await _answer(reader)
        times.seconds[kind].append(time.perf_counter() - begun)
        times.refused[kind] += not 200 <= status < 400
    writer.close()


async def _answer(reader: asyncio.StreamReader) -> int:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    if b"transfer-encoding: chunked" in head:
        while size := int(await reader.readline(), 16):
            await reader.readexactly(size + 2)
        await reader.readline()
    elif (at := head.find(b"content-length: ")) >= 0:
        await reader.readexactly(int(head[at + 16 : head.index(b"\r\n", at)]))
    return int(head[9:12])
