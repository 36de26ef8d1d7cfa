"""A warning that every request could give is logged now and then, with how often it was due."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable


class SeldomWarning:
    """Logs a warning at most once in `seconds`; the next one says how many were left out since."""

    def __init__(self, log: logging.Logger, seconds: float = 60.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._log, self._seconds, self._clock = log, seconds, clock
        self._lock = threading.Lock()
        self._next: float | None = None
        self._left_out = 0

    def warn(self, message: str, *values: object) -> None:
        """Log it, or only count it."""
        with self._lock:
            now = self._clock()
            if self._next is not None and now < self._next:
                self._left_out += 1
                return
            left_out, self._left_out, self._next = self._left_out, 0, now + self._seconds
        more = f" (and {left_out:,} times since this was last said)" if left_out else ""
        self._log.warning(message + "%s", *values, more)
