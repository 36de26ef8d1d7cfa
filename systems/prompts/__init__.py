"""The project's own prompts as versioned data files, and what is read out of a model's text."""

from __future__ import annotations

from systems.prompts.parsing import read_answer, read_answer_and_url, read_cited_answer
from systems.prompts.prompt import Exemplar, Prompt, load, names

__all__ = ["Exemplar", "Prompt", "load", "names", "read_answer", "read_answer_and_url", "read_cited_answer"]
