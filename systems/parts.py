"""What systems are put together from: retrievers, rerankers, readers and answerers, made when a system asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.corpus import Corpus
from core.errors import InvalidInput, NotInstalled
from core.extras import how_to_install
from core.ports import Judge
from core.tracks import QA
from systems.config import SystemConfig
from systems.prompts import load as load_prompt
from systems.retrieval.store import IndexStore, Progress, silent

if TYPE_CHECKING:
    from systems.exemplars import Chooser, Pool
    from systems.prompts import Exemplar
    from systems.records import LLM, Answerer, Reader, Reranker, Retriever
    from systems.retrieval.bm25 import Bm25
    from systems.retrieval.encoder import Encoder
    from systems.retrieval.pages import Pages

_ADDRESS_HITS = 10


def _no_judge() -> Judge:
    raise InvalidInput("This system needs a judge.", "Hand one in.")


def load_llm(spec: str, seed: int) -> LLM:
    """The model that a spec names; its module is imported only here."""
    model: LLM = import_module("systems.llm").load(spec, seed=seed)
    return model


def read_file(where: str) -> bytes:
    """The file of answers that `answers:FILE` names."""
    try:
        return Path(where).read_bytes()
    except OSError as error:
        raise InvalidInput(f"{where} cannot be read: {error.strerror}", "Name a JSONL file of answers.") from None


def load_reader(spec: str, model: str, seed: int) -> Reader:
    """The reader that a spec names, on a model."""
    reader: Reader = import_module("systems.readers").load(spec, model=model, seed=seed)
    return reader


@dataclass
class Parts:
    """The corpus, where indexes are kept, what may be learned from, and how models are loaded."""

    corpus: Corpus
    indexes: IndexStore
    exemplars: Pool = ()
    seed: int = 0
    judge_source: Callable[[], Judge] = _no_judge
    llm_source: Callable[[str, int], LLM] = load_llm
    reader_source: Callable[[str, str, int], Reader] = load_reader
    answers_source: Callable[[str], bytes] = read_file
    progress: Progress = silent
    track: str = QA
    """What the benchmark asks for."""
    _judge: Judge | None = field(default=None, repr=False)
    _llms: dict[str, LLM] = field(default_factory=dict, repr=False)

    def bm25(self, config: SystemConfig) -> Bm25:
        """BM25 over the corpus with the configuration's k1 and b."""
        from systems.retrieval.bm25 import K1, B, open_bm25

        k1, b = (given if given is not None else usual for given, usual in ((config.k1, K1), (config.b, B)))
        with _extra("retrieval"):
            return open_bm25(self.indexes, self.corpus, k1=k1, b=b, progress=self.progress)

    def retriever(self, config: SystemConfig) -> Retriever:
        """The configured retriever."""
        if config.retriever == "bm25":
            return self.bm25(config)
        from systems.retrieval.dense import open_dense

        with _extra("worker"):
            return open_dense(self.indexes, self.corpus, _given(config, "encoder"), progress=self.progress)

    def encoder(self, config: SystemConfig) -> Encoder:
        """The configured encoder."""
        from systems.retrieval.encoder import load_encoder

        with _extra("worker"):
            return load_encoder(_given(config, "encoder"))

    def llm(self, config: SystemConfig, field: str = "model") -> LLM:
        """The language model that a component names, loaded once."""
        spec = _given(config, field)
        if spec not in self._llms:
            self._llms[spec] = self.llm_source(spec, self.seed)
        return self._llms[spec]

    def reranker(self, config: SystemConfig) -> Reranker | None:
        """The configured cross-encoder, if any."""
        return None if config.reranker in ("", "judge") else self.cross_encoder(config)

    def cross_encoder(self, config: SystemConfig) -> Reranker:
        """The configured cross-encoder, which has to be there."""
        from systems.retrieval.rerank import load_cross_encoder

        with _extra("worker"):
            return load_cross_encoder(_given(config, "reranker"))

    def judge(self, config: SystemConfig) -> Judge | None:
        """The judge handed in, for systems that rerank by one."""
        if config.reranker == "judge" and self._judge is None:
            self._judge = self.judge_source()
        return self._judge if config.reranker == "judge" else None

    def reader(self, config: SystemConfig) -> Reader:
        """The configured reader."""
        reader: Any = self.reader_source(config.reader, _given(config, "model"), self.seed)
        if config.max_new_tokens:
            reader = replace(reader, max_new_tokens=config.max_new_tokens)
        return reader  # type: ignore[no-any-return]

    def answerer(self, config: SystemConfig) -> Answerer:
        """The configured closed-book answerer."""
        from systems.answerers import FewShot, FromFile

        kind, _, where = _given(config, "answerer").partition(":")
        if kind == "answers":
            return FromFile(where.partition("@")[0], self.answers_source(where))
        return FewShot(self.llm(config), self.chooser(config), config.max_new_tokens)

    def url_answerer(self, config: SystemConfig) -> Answerer:
        """A few-shot answerer that also writes a page's address."""
        from systems.answerers import FewShot

        model, search = self.llm_source(_given(config, "model"), self.seed), self.bm25(config)
        return FewShot(model, self.chooser(config), config.max_new_tokens, lambda some: _addresses(search, some))

    def chooser(self, config: SystemConfig) -> Chooser:
        """How exemplars are chosen."""
        from systems.exemplars import Fixed, Own, Similar

        if config.exemplars == "own":
            return Own(load_prompt("answer-url@1").exemplars, config.shots)
        if config.shots and not self.exemplars:
            raise InvalidInput(
                "The benchmark has no exemplars to show in the prompt.",
                "Add the benchmark with --exemplars, or give the run a file with --exemplars.",
            )
        with _extra("retrieval"):
            if config.exemplars == "NQ-full" and config.shots:
                return Similar(self.exemplars, config.shots)
            return Fixed(self.exemplars, config.shots, self.seed)

    def pages(self) -> Pages:
        """The corpus by page."""
        from systems.retrieval.pages import open_pages

        return open_pages(self.indexes, self.corpus, self.progress)


def _addresses(search: Bm25, exemplars: Sequence[Exemplar]) -> list[str]:
    """For each exemplar the page of the best BM25 hit that holds its answer; empty where none of the first does."""
    from systems.architectures.choice import holds

    hits = search.search([f"{each.question} {each.answer}" for each in exemplars], _ADDRESS_HITS)
    return [
        next((hit.passage.id.split("#")[0] for hit in some if holds(hit.passage, each.answer)), "")
        for each, some in zip(exemplars, hits, strict=True)
    ]


def _given(config: SystemConfig, field: str) -> str:
    value: str = getattr(config, field)
    if not value or value.startswith("?"):
        what = f": {value[1:]}" if value else ""
        raise InvalidInput(f"{config.name} cannot run without its {field}{what}.", f"Hand one in: --set {field}=…")
    return value


@contextmanager
def _extra(name: str) -> Iterator[None]:
    """Turns a missing package into an error that says how to install it."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise NotInstalled(
            f"This needs the Python package {error.name!r}, which is not installed.",
            f"Install it with: {how_to_install(name)}",
        ) from error
