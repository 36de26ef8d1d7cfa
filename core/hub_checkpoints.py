"""Models of the Hub that `hub_access` names: pinned to a commit, weighed before anything large is downloaded."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from huggingface_hub import HfApi, constants, snapshot_download
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, NotASafetensorsRepoError

from core.checkpoints import FILES, Checkpoint, count_parameters, without_safetensors
from core.errors import Unavailable
from core.hub_access import hub_access
from core.hub_errors import told


def resolve(name: str, revision: str | None, hub: HfApi | None = None, *, count: bool = False) -> Checkpoint:
    """The commit that `revision` (default: main) is now; no weights are fetched.

    With `count`, the parameters are counted from the headers of the weights. Where the Hub is not reached, a snapshot
    of the named commit in the local cache serves. Raises `NotFound`, `Forbidden` (gated), `InvalidInput`, `Refused`
    (no safetensors) or `Unavailable`.
    """
    access = hub_access()
    hub = hub or HfApi(access.endpoint, access.token)
    try:
        info = hub.model_info(name, revision=revision, files_metadata=True)
        files = {str(file.rfilename): int(file.size or 0) for file in info.siblings or []}
        if not any(path.endswith(".safetensors") and "/" not in path for path in files):
            raise without_safetensors(f"{name}@{info.sha}")
        counts = hub.get_safetensors_metadata(name, revision=info.sha).parameter_count if count else {}
    except NotASafetensorsRepoError as error:
        raise without_safetensors(f"{name}@{info.sha}") from error
    except (HFValidationError, HfHubHTTPError, OSError) as error:
        failure = told(error, name, revision or "main")
        if isinstance(failure, Unavailable):
            return _cached(name, revision, failure, count=count)
        raise failure from error
    size = sum(size for path, size in files.items() if any(fnmatch(path, pattern) for pattern in FILES))
    return Checkpoint(name, str(info.sha), parameters=sum(counts.values()), size=size)


def _cached(name: str, revision: str | None, failure: Unavailable, *, count: bool) -> Checkpoint:
    folder = _here(name, revision)
    weights = sorted(folder.glob("*.safetensors")) if folder else []
    if folder is None or not weights:
        raise failure
    return Checkpoint(name, folder.name, folder, count_parameters(weights) if count else 0)


def fetch(checkpoint: Checkpoint) -> Path:
    """The folder with the pinned files, downloaded if need be. Raises `Unavailable`, also for a disk too small."""
    if checkpoint.folder is not None:
        return checkpoint.folder
    if _here(checkpoint.name, checkpoint.revision) is None:
        _require_disk(checkpoint)
    access = hub_access()
    try:
        return _snapshot(checkpoint.name, checkpoint.revision, endpoint=access.endpoint, token=access.token)
    except (HfHubHTTPError, OSError) as error:
        raise told(error, checkpoint.name, checkpoint.revision) from error


def settings(checkpoint: Checkpoint) -> Path:
    """A folder with the pinned `config.json`; of the Hub, only that is fetched. Raises as `fetch`."""
    if checkpoint.folder is not None:
        return checkpoint.folder
    access = hub_access()
    try:
        return _snapshot(
            checkpoint.name,
            checkpoint.revision,
            endpoint=access.endpoint,
            token=access.token,
            patterns=("config.json",),
        )
    except (HfHubHTTPError, OSError) as error:
        raise told(error, checkpoint.name, checkpoint.revision) from error


def _here(name: str, revision: str | None) -> Path | None:
    """The folder in the local cache, though a download may have stopped half-way into it."""
    try:
        return _snapshot(name, revision, local_files_only=True)
    except (LocalEntryNotFoundError, OSError, ValueError):
        return None


def _snapshot(name: str, revision: str | None, *, patterns: Sequence[str] = FILES, **how: Any) -> Path:
    return Path(snapshot_download(name, revision=revision, allow_patterns=list(patterns), **how))


def _require_disk(checkpoint: Checkpoint) -> None:
    cache = Path(constants.HF_HUB_CACHE)
    cache.mkdir(parents=True, exist_ok=True)
    free, needed = shutil.disk_usage(cache).free, checkpoint.size or 2 * checkpoint.parameters
    if free < needed:
        raise Unavailable(
            f"{checkpoint.identity} takes at least {needed / 1e9:.1f} GB of disk; {free / 1e9:.1f} GB are free in "
            f"{cache}.",
            "Free some space, or set HF_HOME to a larger disk.",
        )
