"""Judges by key; a judge's module, and what it imports, is loaded only when the judge is asked for.

An entry names a factory `(source, options) -> Judge`. `source` is what follows the key's colon: a hub id with
an optional `@revision`, or a local folder; it is empty for a bare key.
"""

from __future__ import annotations

from importlib import import_module
from urllib.parse import urlencode

from core.errors import InvalidInput, NotInstalled
from core.extras import how_to_install
from core.ports import Judge
from scorer.judges.options import Options, parse

REGISTRY: dict[str, str] = {
    "small": "scorer.judges.small:load",
    "token-overlap": "scorer.judges.token_overlap:load",
    "released": "scorer.judges.released:load",
    "true-t5-xxl": "scorer.judges.t5_nli:load_true",
    "t5": "scorer.judges.t5_nli:load",
    "nli": "scorer.judges.sequence_classification:load",
    "minicheck": "scorer.judges.minicheck:load",
    "calibrated": "scorer.judges.calibrated.judge:load",
}
"""Key → `module:factory`."""

EXTRAS: dict[str, str] = {
    "small": "small",
    "true-t5-xxl": "worker",
    "t5": "worker",
    "nli": "worker",
    "minicheck": "worker",
}
"""Key → the extra that brings what the judge imports."""


def check(spec: str) -> None:
    """Raise `InvalidInput` for a spec with an unknown key or option; loads nothing."""
    name, _, query = spec.partition("?")
    key = name.partition(":")[0]
    if key not in REGISTRY:
        raise InvalidInput(f"there is no judge {key!r}", f"Judges: {', '.join(REGISTRY)}.")
    parse(query, Options())


def load(spec: str, options: Options | None = None) -> Judge:
    """The judge that a spec names, e.g. `small`, `t5:ID@REVISION`, `nli:/folder`, `true-t5-xxl?dtype=fp32`.

    Raises `InvalidInput` for an unknown key or option and `NotInstalled` where an extra is missing.
    """
    check(spec)
    name, _, query = spec.partition("?")
    key, _, source = name.partition(":")
    module, _, factory = REGISTRY[key].partition(":")
    chosen = parse(query, options or Options())
    try:
        judge: Judge = getattr(import_module(module), factory)(source, chosen)
    except ModuleNotFoundError as error:
        if key not in EXTRAS or (error.name or "").startswith("scorer"):
            raise
        raise NotInstalled(
            f"the judge {key!r} needs the Python package {error.name!r}, which is not installed",
            f"Install it with: {how_to_install(EXTRAS[key])}",
        ) from error
    return judge


def spec_of(signature: str) -> str:
    """The spec that loads the judge of a signature again, e.g. `t5:ID@REVISION?dtype=bf16`."""
    name, *rest = signature.removeprefix("judge:").split("|")
    key = name.partition("@")[0]
    if key in REGISTRY:
        return key
    said = dict(part.split(":", 1) for part in rest)
    kind = {"aqa+nli": "nli", "aqa+minicheck": "minicheck"}.get(said.get("tmpl", ""), "t5")
    compat = "yes" if "decode" in said else None
    options = {"dtype": said.get("dtype"), "premise_cap": said.get("cap"), "compat": compat}
    return f"{kind}:{name}?{urlencode({option: value for option, value in options.items() if value})}"
