"""A coroutine run to its end by a test."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")


def run_async(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """What the coroutine returns or raises.

    In a thread of its own: Playwright's browser keeps a loop running in the main thread of every test process
    that ever opened it, and `asyncio.run` refuses to start a second one there.
    """
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()
