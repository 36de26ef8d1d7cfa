"""The editing track: revised passages with their reports in, human labels of them in and out."""

from __future__ import annotations
