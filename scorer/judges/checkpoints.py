"""Which weights a judge runs on: a checkpoint of the Hub or a folder, and what a folder was converted from."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.checkpoints import Checkpoint, count_parameters, is_folder, local
from core.errors import InvalidInput, Refused
from core.hub_errors import first_line

if TYPE_CHECKING:
    from huggingface_hub import HfApi

PROVENANCE = "converted_from.json"
"""Written by `scorer.judges.convert` into a converted folder: the hub id and commit that it was made from."""


def resolve(source: str, hub: HfApi | None = None) -> Checkpoint:
    """The checkpoint that `ID`, `ID@REVISION` or a folder's path names now, its parameters counted; no weights are
    fetched.

    Raises `InvalidInput`, `NotFound`, `Forbidden` (gated), `Refused` (no safetensors) or `Unavailable` (hub not
    reached).
    """
    if not source:
        raise InvalidInput("No checkpoint is named.", "Add a hub id or a folder: `t5:ID@REVISION`, `t5:/folder`.")
    try:
        return _local(source) if is_folder(source) else _of_hub(source, hub)
    except Refused as error:
        if "no safetensors" not in error.message:
            raise
        to = "then name the judge by t5:/path/to/FOLDER."
        raise Refused(
            error.message, f"Convert it once: python -m scorer.judges.convert {source} FOLDER; {to}"
        ) from None


def fetch(checkpoint: Checkpoint) -> Path:
    """The folder with the checkpoint's files, downloaded if need be; raises `Unavailable`."""
    from core import hub_checkpoints

    return hub_checkpoints.fetch(checkpoint)


def read_config(checkpoint: Checkpoint) -> Any:
    """The checkpoint's transformers configuration; of the Hub that `hub_access` names, no weights are fetched.

    Raises `Refused` for one that needs code of its own, is of an unknown kind or broken.
    """
    from transformers import AutoConfig

    from core import hub_checkpoints

    folder = hub_checkpoints.settings(checkpoint)
    try:  # unless told not to, the library asks on the terminal whether to run a model's code
        return AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError, KeyError) as error:
        what = f"{checkpoint.identity} has no configuration that can be used: {first_line(error)}"
        raise Refused(what, "Take a model that transformers knows.") from error


def _of_hub(source: str, hub: HfApi | None) -> Checkpoint:
    from core import hub_checkpoints

    name, _, revision = source.partition("@")
    return hub_checkpoints.resolve(name, revision or None, hub, count=True)


def _local(source: str) -> Checkpoint:
    """A folder's name does not move its scores, so it is no part of its identity; where it was made from is."""
    found = local(source)
    assert found.folder is not None
    counted = replace(found, parameters=count_parameters(sorted(found.folder.glob("*.safetensors"))))
    try:
        made_from = json.loads((found.folder / PROVENANCE).read_text(encoding="utf-8"))
        name, revision = str(made_from["id"]), f"{made_from['revision'][:12]}+local-{found.revision}"
    except FileNotFoundError:
        return counted
    except (ValueError, KeyError, TypeError) as error:
        what = f"{found.folder / PROVENANCE} is not as the converter wrote it."
        raise InvalidInput(what, "Convert again.") from error
    return replace(counted, name=name, revision=revision)
