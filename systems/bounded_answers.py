"""Bounds on what an endpoint's answer may take of memory and time, whatever it sends."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

MOST_BYTES = 8 * 2**20
SECONDS = 120.0
"""An answer's body must be there so long after its head; the timeouts of httpx are only of each piece."""


def bounds(httpx: ModuleType, most: int = MOST_BYTES, seconds: float = SECONDS) -> dict[str, Any]:
    """What to make a client of `httpx` with: answers within bounds, unpacked, and from where they were asked for.

    Reading one that breaks them raises the module's `ReadError` or `ReadTimeout`. Packed answers are not asked for and
    not read, since a small one can unpack to any size. A redirect could lead into a network that only we can reach.
    """

    class Bounded(httpx.SyncByteStream):  # type: ignore[name-defined,misc]  # of whichever httpx the client has
        def __init__(self, stream: Any) -> None:
            self._stream, self._end = stream, time.monotonic() + seconds

        def __iter__(self) -> Iterator[bytes]:
            read = 0
            for piece in self._stream:
                read += len(piece)
                if read > most:
                    raise httpx.ReadError(f"the answer is larger than {most / 2**20:g} MiB")
                if time.monotonic() > self._end:
                    raise httpx.ReadTimeout("the answer came too slowly")
                yield piece

        def close(self) -> None:
            self._stream.close()

    def bound(response: Any) -> None:
        if (packed := response.headers.get("content-encoding", "identity").strip().lower()) != "identity":
            raise httpx.DecodingError(f"the answer is packed ({packed[:40]}), which was not asked for")
        response.stream = Bounded(response.stream)

    hooks: dict[str, list[Callable[[Any], None]]] = {"response": [bound]}
    return {"event_hooks": hooks, "follow_redirects": False, "headers": {"Accept-Encoding": "identity"}}
