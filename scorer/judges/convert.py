"""Turn a checkpoint's pickled weights into safetensors: `python -m scorer.judges.convert ID[@REVISION] FOLDER`."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path

import torch
from safetensors.torch import save_file

from core.errors import AqaError, InvalidInput
from scorer.judges.checkpoints import PROVENANCE

SIDE_FILES = ("*.json", "*.model", "*.txt")


def convert(source: Path, folder: Path, made_from: dict[str, str] | None = None) -> list[Path]:
    """Write each `*.bin` of `source` as safetensors, shard by shard, with the small files beside it.

    Weights are unpickled with `weights_only`, so that no code of theirs runs. Raises `InvalidInput`.
    """
    shards = sorted(source.glob("pytorch_model*.bin"))
    if not shards:
        raise InvalidInput(f"{source} holds no pytorch_model*.bin", "Name a checkpoint with pickled weights.")
    if folder.exists() and any(folder.iterdir()):
        raise InvalidInput(f"{folder} is not empty", "Name a new folder.")
    folder.mkdir(parents=True, exist_ok=True)
    places: dict[str, str] = {}
    for number, shard in enumerate(shards, 1):
        name = f"model-{number:05d}-of-{len(shards):05d}.safetensors" if len(shards) > 1 else "model.safetensors"
        tensors = _tensors(shard)
        save_file(tensors, folder / name, metadata={"format": "pt"})
        places |= dict.fromkeys(tensors, name)
    if len(shards) > 1:
        index = {"metadata": {}, "weight_map": places}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    for path in sorted({path for pattern in SIDE_FILES for path in source.glob(pattern)}):
        if not path.name.endswith(".index.json"):
            (folder / path.name).write_bytes(path.read_bytes())
    if made_from is not None:
        (folder / PROVENANCE).write_text(json.dumps(made_from), encoding="utf-8")
    return sorted(folder.iterdir())


def _tensors(shard: Path) -> dict[str, torch.Tensor]:
    """A shard's tensors; of several names for one storage (tied embeddings) the shortest is kept."""
    state = torch.load(shard, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(shard))
    kept: dict[tuple[int, int, tuple[int, ...]], str] = {}
    for name in sorted(state, key=lambda name: (len(name), name)):
        tensor = state[name]
        kept.setdefault((tensor.untyped_storage().data_ptr(), tensor.storage_offset(), tuple(tensor.shape)), name)
    return {name: state[name].contiguous() for name in kept.values()}


def main(arguments: list[str]) -> int:
    """The command; returns the exit status."""
    if len(arguments) != 2:
        sys.stderr.write("usage: python -m scorer.judges.convert ID[@REVISION] FOLDER\n")
        return 2
    from huggingface_hub import HfApi, snapshot_download

    name, _, revision = arguments[0].partition("@")
    try:
        if Path(name).is_dir():
            convert(Path(name), Path(arguments[1]))
        else:
            sha = str(HfApi().model_info(name, revision=revision or None).sha)
            source = snapshot_download(name, revision=sha, allow_patterns=["*.bin", *SIDE_FILES])
            convert(Path(source), Path(arguments[1]), {"id": name, "revision": sha})
    except AqaError as error:
        sys.stderr.write(f"{error.message}\n{error.hint}\n")
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
