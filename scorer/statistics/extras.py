"""Imports libraries of the `statistics` extra at their first use."""

from __future__ import annotations

import importlib
import warnings
from types import ModuleType

from core.errors import Unavailable


def require(module: str) -> ModuleType:
    """The module, or `Unavailable` with the command that installs it.

    Filters for warnings that the module sets for the whole process are undone (`ppi_py` silences all).
    """
    try:
        with warnings.catch_warnings():
            return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise Unavailable(
            f"this statistic needs the Python package {error.name!r}, which is not installed",
            "Install it with: pip install '.[statistics]'",
        ) from error
