"""Imports libraries of the `statistics` extra at their first use."""

from __future__ import annotations

import importlib
import warnings
from types import ModuleType

from core.errors import NotInstalled
from core.extras import how_to_install


def require(module: str) -> ModuleType:
    """The module, or `NotInstalled` with the command that installs it.

    Filters for warnings that the module sets for the whole process are undone (`ppi_py` silences all).
    """
    try:
        with warnings.catch_warnings():
            return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise NotInstalled(
            f"this statistic needs the Python package {error.name!r}, which is not installed",
            f"Install it with: {how_to_install('statistics')}",
        ) from error
