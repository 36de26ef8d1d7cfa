"""References to models: `owner/name@revision`, pinned and checked by what the Hub tells, before weights are fetched."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import Any

from core.errors import InvalidInput, Refused
from submissions.repos.names import check_name
from submissions.sources.hub import Hub

_CONFIG_BYTES = 2 * 2**20
_TASKS = ("ForCausalLM", "ForConditionalGeneration")
_TOKENIZERS = ("tokenizer.json", "tokenizer.model", "spiece.model", "vocab.json")
_PICKLES = (".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".h5", ".msgpack", ".joblib")
_INDEX = "model.safetensors.index.json"
_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class Rules:
    """What is fetched of a model, as file patterns, and what it may be; `licences` empty takes any that is named."""

    files: tuple[str, ...]
    most_bytes: int
    licences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Checked:
    """What the Hub tells of a model; `refusals` says everything that stands against running it."""

    repo: str
    commit: str
    architecture: str
    model_type: str
    licence: str
    fetched_bytes: int
    refusals: tuple[str, ...]

    @property
    def pinned(self) -> str:
        """`owner/name@commit`."""
        return f"{self.repo}@{self.commit}"

    def demand(self) -> None:
        """Raise `Refused` with every reason, if there is any."""
        if self.refusals:
            raise Refused(f"{self.repo} cannot be run here: {' '.join(self.refusals)}", "aqa model check tells it too.")


def parse(text: str) -> tuple[str, str]:
    """Repository and revision, by default `main`. Raises `InvalidInput` for whatever is no model of the Hub."""
    name, _, revision = text.strip().partition("@")
    parts = name.split("/")
    if len(parts) != 2 or not name.isascii() or len(revision) > 200 or ".." in revision or not revision.isprintable():
        raise InvalidInput(f"{text[:120]!r} is not a reference to a model.", "Write it like owner/name@revision.")
    return f"{check_name(parts[0])}/{check_name(parts[1])}", revision or "main"


def check(hub: Hub, text: str, rules: Rules) -> Checked:
    """Pin the reference to a commit and look at it. Raises as `parse` and `Hub`, and `Refused` for a gated model."""
    repo, revision = parse(text)
    info = hub.model(repo, revision)
    commit = str(info.sha or "")
    if not _COMMIT.fullmatch(commit):
        raise Refused(f"The Hub names no commit for {repo}.", "Try again later.")
    if info.gated:
        raise Refused(f"{repo} is gated: its owner decides who may read it.", "Use a model that is open to all.")
    sizes = {str(each.rfilename): int(each.size or 0) for each in info.siblings or ()}
    fetched = {name: size for name, size in sizes.items() if any(fnmatch(name, pattern) for pattern in rules.files)}
    read = {name: _json(hub, repo, commit, name, sizes) for name in ("config.json", "tokenizer_config.json", _INDEX)}
    config, licence = read["config.json"] or {}, _licence(info)
    refusals = [
        *_config(read["config.json"]),
        *_code(info, config, read["tokenizer_config.json"] or {}),
        *_weights(sizes, read[_INDEX]),
        *([] if any(name in sizes for name in _TOKENIZERS) else ["It holds no tokenizer."]),
        *_size(sum(fetched.values()), rules.most_bytes),
        *_allowed(licence, rules.licences),
    ]
    kinds = _classes(config)
    return Checked(
        repo, commit, kinds[0] if kinds else "", str(config.get("model_type", "")), licence, sum(fetched.values()),
        tuple(refusals),
    )  # fmt: skip


def _json(hub: Hub, repo: str, commit: str, name: str, sizes: dict[str, int]) -> dict[str, Any] | None:
    """A small file of settings; None where there is none, or it is no JSON object."""
    if not 0 < sizes.get(name, 0) <= _CONFIG_BYTES:
        return None
    try:
        found = json.loads(hub.model_file(repo, commit, name, _CONFIG_BYTES))
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _config(config: dict[str, Any] | None) -> list[str]:
    if config is None:
        return ["It holds no config.json that can be read."]
    kinds, wanted = _classes(config), f"a class that ends in {' or '.join(_TASKS)}"
    if not kinds:
        return [f"It is not known to write text: its config.json names no architecture ({wanted})."]
    if not any(kind.endswith(_TASKS) for kind in kinds):
        return [f"It does not write text: its config.json names {', '.join(kinds[:3])}, not {wanted}."]
    return ["Its weights are quantised."] if config.get("quantization_config") else []


def _classes(config: dict[str, Any]) -> list[str]:
    """The classes that a config names; none where it names them in no list."""
    named = config.get("architectures")
    return [str(each) for each in named] if isinstance(named, list) else []


def _code(info: Any, *settings: dict[str, Any]) -> list[str]:
    if any(each.get("auto_map") for each in settings) or "custom_code" in (info.tags or ()):
        return ["It needs code of its own, which is never run here."]
    return []


def _weights(sizes: dict[str, int], index: dict[str, Any] | None) -> list[str]:
    tensors = {name for name in sizes if name.endswith(".safetensors") and "/" not in name}
    if not tensors:
        pickles = sorted(name for name in sizes if name.endswith(_PICKLES))
        beside = f" ({', '.join(pickles[:3])} can run code when it is loaded)" if pickles else ""
        return [f"It holds no safetensors weights{beside}. Save it anew with save_pretrained."]
    named = index.get("weight_map") if index else None
    missing = sorted({str(each) for each in named.values()} - tensors) if isinstance(named, dict) else []
    return [f"Weights are missing: {', '.join(missing[:3])}."] if missing else []


def _size(fetched: int, most: int) -> list[str]:
    return [f"It has {fetched / 1e9:,.1f} GB; the limit is {most / 1e9:,.1f} GB."] if fetched > most else []


def _licence(info: Any) -> str:
    named = getattr(info.card_data, "license", None) if info.card_data else None
    return str(named[0] if isinstance(named, list) and named else named or "").lower()


def _allowed(licence: str, licences: Sequence[str]) -> list[str]:
    if not licence:
        return ["Its card names no licence."]
    if licences and licence not in licences:
        return [f"Its licence is {licence!r}; accepted are {', '.join(licences)}."]
    return []
