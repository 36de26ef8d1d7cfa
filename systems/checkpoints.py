"""A model's files: a hub id at a commit, or a folder named by what is in it; configuration, weights, tokenizer only."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from core.errors import InvalidInput, NotFound, Refused, Unavailable
from core.hub_access import hub_access

FILES = ("*.json", "*.safetensors", "*.model", "*.txt", "*.jinja")
"""What is fetched, hashed and loaded; never pickles or code, which could run anything."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A folder ready to load; `identity` is NAME@COMMIT, or NAME@DIGEST for a local folder."""

    name: str
    identity: str
    folder: Path


def fetch(where: str) -> Checkpoint:
    """The files of `owner/name@revision`, downloaded once from the Hub that `hub_access` names, or of a folder.

    Without a revision the newest commit is taken, and named. Raises `NotFound`, `Refused` (no safetensors, gated),
    or `Unavailable` (hub not reached).
    """
    if not where:
        raise InvalidInput("No checkpoint is named.", "Write owner/name@revision, or a folder's path.")
    if where.startswith(("/", "./", "../", "~")):
        return _local(Path(where).expanduser())
    name, _, revision = where.partition("@")
    folder = _download(name, revision or None)
    return Checkpoint(name, f"{name}@{folder.name}", _whole(folder, where))


def _local(folder: Path) -> Checkpoint:
    if not folder.is_dir():
        raise NotFound(f"There is no folder {folder}.", "Name the folder that holds config.json and the weights.")
    digest = hashlib.sha256()
    for name in sorted(path.relative_to(folder).as_posix() for pattern in FILES for path in folder.rglob(pattern)):
        if name.startswith("checkpoint-"):
            continue  # a training's way to the model beside them
        with (folder / name).open("rb") as stream:
            content = hashlib.file_digest(stream, "sha256").hexdigest()
        digest.update(f"{name}\n{content}\n".encode())
    return Checkpoint(folder.name, f"{folder.name}@{digest.hexdigest()[:12]}", _whole(folder, str(folder)))


def _whole(folder: Path, what: str) -> Path:
    if not (folder / "config.json").is_file():
        raise NotFound(f"{what} holds no config.json.", "Name a transformers checkpoint.")
    if not any(folder.glob("*.safetensors")):
        raise Refused(
            f"{what} holds no safetensors weights; pickled weights can run code and are not loaded.",
            "Save it anew with save_pretrained.",
        )
    return folder


def _download(name: str, revision: str | None) -> Path:
    from huggingface_hub import errors as hub
    from huggingface_hub import snapshot_download

    access = hub_access()
    try:
        return Path(
            snapshot_download(
                name, revision=revision, allow_patterns=list(FILES), endpoint=access.endpoint, token=access.token
            )
        )
    except hub.GatedRepoError:
        raise Refused(f"{name} is gated.", "Ask its owner for access and set AQA_HUB_TOKEN.") from None
    except hub.RevisionNotFoundError:
        raise NotFound(f"{name} has no revision {revision!r}.", "Name a commit of the repository.") from None
    except hub.RepositoryNotFoundError:
        raise NotFound(f"The hub has no model {name!r}.", "Check the name; is it private?") from None
    except hub.HFValidationError as error:
        raise InvalidInput(f"{name!r} is no model id: {error}", "Write owner/name@revision.") from None
    except (hub.LocalEntryNotFoundError, hub.OfflineModeIsEnabled, hub.HfHubHTTPError, OSError) as error:
        raise Unavailable(f"{name} could not be fetched: {error}", "Check the connection, or name a folder.") from None
