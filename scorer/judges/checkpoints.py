"""Which weights a judge runs on: a hub id at a commit, or a local folder named by what is in it."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import InvalidInput, NotFound, Refused, Unavailable

if TYPE_CHECKING:
    from huggingface_hub import HfApi

FILES = ("*.json", "*.safetensors", "*.model", "*.txt")
"""What is fetched and hashed: configuration, weights, tokenizer; never pickles or code."""

PROVENANCE = "converted_from.json"
"""Written by `scorer.judges.convert` into a converted folder: the hub id and commit that it was made from."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Weights pinned to a commit of the hub, or to the digest of a local folder."""

    name: str
    revision: str
    parameters: int
    folder: Path | None = None

    @property
    def identity(self) -> str:
        """`ID@REVISION`, as it stands in a signature."""
        return f"{self.name}@{self.revision}"


def resolve(source: str, hub: HfApi | None = None) -> Checkpoint:
    """The checkpoint that `ID`, `ID@REVISION` or a folder's path names now; no weights are fetched.

    Raises `InvalidInput`, `NotFound`, `Refused` (no safetensors, gated) or `Unavailable` (hub not reached).
    """
    if not source:
        raise InvalidInput("no checkpoint is named", "Add a hub id or a folder: `t5:ID@REVISION`, `t5:/folder`.")
    if source.startswith(("/", "./", "../", "~")):
        return _local(Path(source).expanduser())
    name, _, revision = source.partition("@")
    from scorer.judges import hub_checkpoints

    return hub_checkpoints.resolve(name, revision or None, hub)


def fetch(checkpoint: Checkpoint) -> Path:
    """The folder with the checkpoint's files, downloaded if need be; raises `Unavailable`."""
    if checkpoint.folder is not None:
        return checkpoint.folder
    from scorer.judges import hub_checkpoints

    return hub_checkpoints.fetch(checkpoint)


def without_safetensors(what: str) -> Refused:
    """The refusal of a checkpoint that has pickled weights only, with the command that converts it."""
    return Refused(
        f"{what} holds no safetensors weights; pickled weights can run code and are not loaded",
        f"Convert it once: python -m scorer.judges.convert {what} FOLDER; then name the judge by t5:/path/to/FOLDER.",
    )


def count_parameters(files: list[Path]) -> int:
    """Numbers stored in safetensors files, read from their headers. Raises `Refused` for a broken file."""
    return sum(prod(tensor["shape"]) for file in files for tensor in _header(file))


def _local(folder: Path) -> Checkpoint:
    if not folder.is_dir():
        raise NotFound(f"there is no folder {folder}", "Name the folder that holds config.json and the weights.")
    if not (folder / "config.json").is_file():
        raise InvalidInput(f"{folder} holds no config.json", "Name the folder of a saved transformers model.")
    weights = sorted(folder.glob("*.safetensors"))
    if not weights:
        raise without_safetensors(str(folder))
    name, prefix = _provenance(folder)
    return Checkpoint(name, prefix + _digest(folder), count_parameters(weights), folder.absolute())


def _provenance(folder: Path) -> tuple[str, str]:
    """A folder's name does not move its scores, so it is no part of its identity; where it was made from is."""
    try:
        made_from = json.loads((folder / PROVENANCE).read_text(encoding="utf-8"))
        return str(made_from["id"]), f"{made_from['revision'][:12]}+local-"
    except FileNotFoundError:
        return "local", ""
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"{folder / PROVENANCE} is not as the converter wrote it", "Convert again.") from error


def _digest(folder: Path) -> str:
    """sha256 over the names and digests of the files a judge reads, 16 hexadecimal digits."""
    total = hashlib.sha256()
    for path in sorted({path for pattern in FILES for path in folder.glob(pattern)}):
        with path.open("rb") as file:
            total.update(f"{path.name}\0{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return total.hexdigest()[:16]


def _header(file: Path) -> Iterator[dict[str, list[int]]]:
    """Each tensor's entry in a safetensors header: 8 bytes of length, then JSON."""
    try:
        with file.open("rb") as stream:
            (size,) = struct.unpack("<Q", stream.read(8))
            if size > file.stat().st_size:
                raise ValueError("header longer than the file")
            header = json.loads(stream.read(size))
        yield from (entry for name, entry in header.items() if name != "__metadata__")
    except (ValueError, AttributeError, struct.error) as error:
        raise Refused(f"{file} is not a safetensors file: {error}", "Download or convert it again.") from error


def unreachable(what: str, error: Exception) -> Unavailable:
    """The error for a hub that does not answer."""
    return Unavailable(
        f"{what} could not be read from the hub: {error}",
        "Check the network and AQA_HUB_ENDPOINT, wait if the hub asks for it, or name a local folder.",
    )
