"""How training scripts end: an error that says itself what is wrong needs no traceback."""

from __future__ import annotations

import sys
from collections.abc import Callable

from core.errors import AqaError


def run(main: Callable[[], None]) -> None:
    """Run a script; one of our errors is told with its hint on standard error and ends it with its exit code."""
    try:
        main()
    except AqaError as error:
        print(f"Error: {error.message}", *([f"Hint:  {error.hint}"] if error.hint else []), sep="\n", file=sys.stderr)
        sys.exit(error.exit_code)
