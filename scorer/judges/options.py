"""What may be chosen about how a judge runs; whatever moves its scores is in its signature."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import parse_qsl

from core.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Options:
    """Choices for one judge, settable in a spec as `KEY?dtype=fp32&premise_cap=900`."""

    device: str = "auto"
    """`auto`, `cpu`, `cuda`, `cuda:1`, …; `auto` takes a card, or several where one is too small."""
    dtype: str = "auto"
    """`auto` (bf16 on a GPU, fp32 on a CPU), `bf16` or `fp32`; fp16 is refused."""
    batch_tokens: int = 0
    """Padded tokens in one batch; 0 takes the judge's own choice for the device."""
    premise_cap: int = 0
    """Longest input in tokens; the premise is cut to fit, never the hypothesis. 0 means no cut."""
    compat: bool = False
    """Store the released script's greedily decoded string as the label (T5 judges)."""


def parse(query: str, options: Options) -> Options:
    """Options changed by a query string. Raises `InvalidInput` for an unknown name or a wrong value."""
    names = {f.name for f in fields(Options)}
    changes: dict[str, Any] = {}
    for name, text in parse_qsl(query, keep_blank_values=True):
        if name not in names:
            raise InvalidInput(f"a judge has no option {name!r}", f"Options: {', '.join(sorted(names))}.")
        changes[name] = _value(name, text, getattr(options, name))
    return replace(options, **changes)


def _value(name: str, text: str, current: str | int | bool) -> str | int | bool:
    if isinstance(current, bool):
        if text.lower() in ("1", "true", "yes", "0", "false", "no"):
            return text.lower() in ("1", "true", "yes")
    elif isinstance(current, str):
        return text
    elif text.isdecimal():
        return int(text)
    raise InvalidInput(f"{name}={text!r} is not a value of this option", f"Set it to a value like {current}.")
