"""A model's files: a Hub id at a commit, or a folder named by what is in it; configuration, weights, tokenizer only."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

from core.errors import InvalidInput, NotFound, Refused

FILES = ("*.json", "*.safetensors", "*.model", "*.txt", "*.jinja")
"""What is fetched, hashed and loaded; never pickles or code, which could run anything."""
PICKLES = ("*.bin", "*.pt", "*.pth", "*.pkl", "*.ckpt")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A model pinned to a commit of the Hub, or to the digest of a local folder."""

    name: str
    """The Hub's id, or `local`: where a folder lies moves nothing that its model puts out."""
    revision: str
    folder: Path | None = None
    """Where its files are, if they are here."""
    parameters: int = 0
    """0 where nobody counted them."""
    size: int = 0
    """Bytes to fetch; 0 where the Hub does not tell."""

    @property
    def identity(self) -> str:
        """`ID@REVISION`, as it stands in a signature."""
        return f"{self.name}@{self.revision}"


def is_folder(source: str) -> bool:
    """True for what is written as a path, so that no folder beside us is taken for a model of the Hub."""
    return source.startswith(("/", "./", "../", "~"))


def local(source: str) -> Checkpoint:
    """The model in a folder. Raises `NotFound`, `InvalidInput` without a configuration, `Refused` without safetensors
    or with a part whose only weights are pickled."""
    folder = Path(source).expanduser()
    if not folder.is_dir():
        raise NotFound(f"There is no folder {folder}.", "Name the folder that holds config.json and the weights.")
    if not (folder / "config.json").is_file():
        raise InvalidInput(f"{folder} holds no config.json.", "Name the folder of a saved transformers model.")
    check_weights(folder, str(folder))
    return Checkpoint("local", digest(folder), folder.absolute())


def check_weights(folder: Path, what: str) -> None:
    """Raise `Refused` unless a folder's weights, and those of every part in it, are safetensors."""
    if not any(folder.glob("*.safetensors")):
        raise without_safetensors(what)
    for path in (path for pattern in PICKLES for path in folder.rglob(pattern)):
        apart = path.parent != folder and not _is_training(path.relative_to(folder))
        if apart and not any(path.parent.glob("*.safetensors")) and path.stem in ("pytorch_model", "model"):
            raise without_safetensors(f"The part {path.parent.relative_to(folder)} of {what}")


def without_safetensors(what: str, hint: str = "Save it anew with save_pretrained, as safetensors.") -> Refused:
    """The refusal of a checkpoint that has pickled weights only."""
    return Refused(f"{what} holds no safetensors weights; pickled weights can run code and are not loaded.", hint)


def digest(folder: Path) -> str:
    """sha256 over the names and digests of the files that are loaded, 16 hexadecimal digits."""
    names = {path.relative_to(folder) for pattern in FILES for path in folder.rglob(pattern)}
    total = hashlib.sha256()
    for name in sorted(name.as_posix() for name in names if not _is_training(name)):
        with (folder / name).open("rb") as file:
            total.update(f"{name}\0{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return total.hexdigest()[:16]


def _is_training(name: Path) -> bool:
    """True for what a training keeps on its way to the model beside it."""
    return name.parts[0].startswith("checkpoint-")


def count_parameters(files: Sequence[Path]) -> int:
    """Numbers stored in safetensors files, read from their headers. Raises `Refused` for a broken file."""
    return sum(prod(tensor["shape"]) for file in files for tensor in _header(file))


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
