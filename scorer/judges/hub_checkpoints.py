"""Checkpoints of a Hugging Face hub: pinned to a commit, counted before anything large is downloaded."""

from __future__ import annotations

import shutil
from pathlib import Path

from huggingface_hub import HfApi, constants, snapshot_download
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    LocalEntryNotFoundError,
    NotASafetensorsRepoError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from core.errors import Forbidden, InvalidInput, NotFound, Unavailable
from core.hub_access import hub_access
from scorer.judges.checkpoints import FILES, Checkpoint, count_parameters, unreachable, without_safetensors


def resolve(name: str, revision: str | None, hub: HfApi | None = None) -> Checkpoint:
    """The commit that `revision` (default: main) is now, with its parameter count from safetensors headers.

    Where the hub is not reached, a snapshot in the local cache serves. Errors as in `checkpoints.resolve`.
    """
    access = hub_access()
    hub = hub or HfApi(access.endpoint, access.token)
    what = f"{name}@{revision}" if revision else name
    try:
        info = hub.model_info(name, revision=revision)
        if not any((file.rfilename or "").endswith(".safetensors") for file in info.siblings or []):
            raise without_safetensors(f"{name}@{info.sha}")
        counts = hub.get_safetensors_metadata(name, revision=info.sha).parameter_count
    except NotASafetensorsRepoError as error:
        raise without_safetensors(f"{name}@{info.sha}") from error
    except HFValidationError as error:
        raise InvalidInput(f"{name!r} is not a hub id: {error}", "Write OWNER/NAME, or a path with /.") from error
    except GatedRepoError as error:
        raise Forbidden(f"{what} is gated", "Accept its terms on the hub and set AQA_HUB_TOKEN.") from error
    except RevisionNotFoundError as error:
        raise NotFound(f"{name} has no revision {revision!r}", "Name a commit, branch or tag of it.") from error
    except RepositoryNotFoundError as error:
        raise NotFound(
            f"the hub has no model {name!r}", "Check the id; a private one needs AQA_HUB_TOKEN."
        ) from error
    except (HfHubHTTPError, OSError) as error:
        return _cached(name, revision, unreachable(what, error))
    return Checkpoint(name, str(info.sha), sum(counts.values()))


def _cached(name: str, revision: str | None, failure: Unavailable) -> Checkpoint:
    try:
        folder = Path(snapshot_download(name, revision=revision, local_files_only=True, allow_patterns=list(FILES)))
    except (LocalEntryNotFoundError, OSError, ValueError):
        raise failure from None
    weights = sorted(folder.glob("*.safetensors"))
    if not weights:
        raise failure
    return Checkpoint(name, folder.name, count_parameters(weights), folder)


def fetch(checkpoint: Checkpoint) -> Path:
    """Download the pinned commit's files into the hub's cache. Raises `Unavailable`, also for a disk too small."""
    _require_disk(checkpoint)
    access = hub_access()
    try:
        return Path(
            snapshot_download(
                checkpoint.name, revision=checkpoint.revision, allow_patterns=list(FILES), endpoint=access.endpoint,
                token=access.token,
            )
        )  # fmt: skip
    except (HfHubHTTPError, OSError) as error:
        raise unreachable(checkpoint.identity, error) from error


def _require_disk(checkpoint: Checkpoint) -> None:
    """At least 2 bytes a parameter must be free, unless the snapshot is there already."""
    try:
        snapshot_download(
            checkpoint.name, revision=checkpoint.revision, allow_patterns=list(FILES), local_files_only=True
        )
        return
    except (LocalEntryNotFoundError, OSError, ValueError):
        pass
    cache = Path(constants.HF_HUB_CACHE)
    cache.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(cache).free
    if free < 2 * checkpoint.parameters:
        raise Unavailable(
            f"{checkpoint.identity} takes at least {2 * checkpoint.parameters / 1e9:.1f} GB of disk; "
            f"{free / 1e9:.1f} GB are free in {cache}",
            "Free some space, or set HF_HOME to a larger disk.",
        )
