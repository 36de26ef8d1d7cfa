"""From a configuration of the catalog to a research-and-revise system, on passages or on questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.tracks import EDITING
from systems.architectures.choice import answerer_reads
from systems.config import SystemConfig
from systems.parts import Parts
from systems.rarr.editors import Corrector, Editor, Rewriter, Writer
from systems.rarr.research import QUESTIONS, SEARCHES, Asker, Researcher
from systems.rarr.revision import Reviser
from systems.rarr.search import CorpusSearch, Search, open_http_search
from systems.rarr.system import AnswerReviser, EditingSystem

if TYPE_CHECKING:
    from systems.rarr.relevance import Relevance
    from systems.records import LLM

RARR, EFEC, LAMDA, NONE = EDITORS = ("rarr", "efec", "lamda", "none")


def reads(config: SystemConfig) -> dict[str, bool]:
    """The components that make a difference to the system, and whether it cannot do without them.

    The answerer and its exemplars are read on benchmarks of questions only.
    """
    searching = {"k1": False, "b": False} if config.retriever == "bm25" else {"encoder": True}
    searching = {"search": True} if config.search else {"retriever": True} | searching
    fitting = {"dense": {"encoder": True}, "cross-encoder": {"reranker": True}}.get(config.relevance, {})
    drawn = {} if config.editor == LAMDA else {"rounds": True, "temperature": True}
    bounds = {"largest_edit": True, "largest_share": True} if config.editor == RARR else {}
    own = {"corrector": True} if config.editor == EFEC else {}
    answering = dict.fromkeys(answerer_reads(config), False) | {"answerer": True, "exemplars": False}
    numbers = dict.fromkeys(("k", "J", "M", "window"), True)
    return (
        answering
        | {"editor": True, "model": True, "relevance": True, "search": False}
        | numbers
        | (searching | fitting | drawn | bounds | own)
    )


def build(config: SystemConfig, parts: Parts) -> EditingSystem | AnswerReviser:
    """The system that a configuration describes, for the track of the parts."""
    llm = parts.llm(config)
    asker = Asker(llm, 1, 0.0, parts.seed, SEARCHES)
    if config.editor != LAMDA:
        asker = Asker(llm, config.rounds, config.temperature or 0.0, parts.seed, QUESTIONS)
    researcher = Researcher(asker, _search(config, parts), _relevance(config, parts), config.J, config.window, config.M)
    editor = Editor(researcher, _writer(config, parts, llm), reads_report=config.editor in (EFEC, LAMDA))
    if parts.track == EDITING:
        return EditingSystem(config.name, editor)
    return AnswerReviser(config.name, parts.answerer(config), editor)


def _writer(config: SystemConfig, parts: Parts, llm: LLM) -> Writer | None:
    if config.editor == RARR:
        return Reviser(llm, config.largest_edit, config.largest_share or 0.0)
    if config.editor == EFEC:
        return Corrector(parts.llm(config, "corrector"))
    return Rewriter(llm) if config.editor == LAMDA else None


def _search(config: SystemConfig, parts: Parts) -> Search:
    if config.search:
        return open_http_search(config.search, config.k)
    return CorpusSearch(parts.retriever(config), config.k)


def _relevance(config: SystemConfig, parts: Parts) -> Relevance:
    from systems.rarr import relevance

    if config.relevance == "shared-words":
        from systems.retrieval.analysis import Analyzer

        return relevance.SharedWords(Analyzer())
    if config.relevance == "dense":
        return relevance.Cosine(parts.encoder(config))
    return relevance.CrossEncoded(parts.cross_encoder(config))
