"""A generated benchmark with many systems, scored by the real metrics; for tests and timings of the board.

Each question has a few candidate triples whose answers, judgments and votes are drawn once; a system is a way to
choose among them. So a triple is rated once, whoever gives it, as on a real board.
"""

from __future__ import annotations

import random
import tempfile
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
from sqlalchemy import insert

from core.architectures import ARCHITECTURES
from core.benchmark import Benchmark, Benchmarks, NewBenchmark
from core.bulk import insert_rows
from core.database import Database
from core.ports import Metric
from core.records import Item, Judgment, Label, Prediction, Score
from core.tables import PredictionRow, RatingBatch, RatingRow, Submission, System, Team
from core.tables.base import utc_now
from core.text import near_key, triple_key
from scorer import metrics
from scorer.scoring import Evaluation, Values
from scorer.signature import Recipe
from scorer.statistics.intervals import estimates
from scorer.statistics.resamples import ResampleStore
from scorer.stored import show, store

JUDGE = "judge:generated@1|tmpl:aqa"
RATERS = 5
UNRATED = 4
"""The candidate that nobody has rated; the one after it stands for no answer at all."""
_COLUMNS = ("submission_id", "position", "answer", "attribution", "passage_id")
_DETAILED = ("autoais", "ais")
_SUPPORT = (0.95, 0.06, 0.85, 0.12, 0.40)
_ARCHITECTURES = [key for key in ARCHITECTURES if key != "unknown"]
Choices = npt.NDArray[np.intp]


@dataclass(frozen=True)
class World:
    """What to generate; `partial` systems use unrated triples, `short` ones skip a tenth of the questions."""

    benchmark_id: str = "generated"
    systems: int = 8
    questions: int = 40
    rated: int = 20
    partial: frozenset[int] = frozenset({3})
    short: frozenset[int] = frozenset({4})
    uses_autoais: frozenset[int] = frozenset({5})
    resamples: int = 200
    seed: int = 7
    judge: str = JUDGE
    names: dict[int, str] = field(default_factory=dict)


def generate(database: Database, data_path: Path, world: World) -> Benchmark:
    """Fill a migrated database with the world; returns its benchmark."""
    benchmark = _benchmark(Benchmarks(database, data_path), world)
    rng = np.random.default_rng(world.seed)
    items = _candidates(benchmark, rng)
    with database.transaction() as session:
        _rate(session, benchmark, items)
    choices = np.array([_choices(at, world, rng) for at in range(world.systems)], dtype=np.intp)
    choices = choices.reshape(world.systems, world.questions).T
    found = _scored(benchmark, items, choices, world)
    for at in range(world.systems):
        with database.transaction() as session:
            submission = _submission(session, benchmark, world, at, choices[:, at])
            chosen = [items[c][q] for q, c in enumerate(choices[:, at])]
            given = [item.prediction for item in chosen if item.prediction]
            insert_rows(session, PredictionRow, _COLUMNS, [_prediction_row(submission.id, each) for each in given])
            show(session, submission.id, store(session, submission, found[at]))
    return benchmark


def answer_file(world: World, seed: int) -> bytes:
    """Predictions of one more system as JSONL, drawn from the same candidates; no two seeds alike."""
    draw = random.Random(seed)
    chosen = [(n, draw.randrange(UNRATED + 1)) for n in range(world.questions)]
    return b"\n".join(
        orjson.dumps({"question": _question(n), "answer": _answer(n, c), "attribution": _passage_id(n, c)})
        for n, c in chosen
    )


def _benchmark(benchmarks: Benchmarks, world: World) -> Benchmark:
    with tempfile.TemporaryDirectory() as folder:
        questions, corpus, rated = (Path(folder) / name for name in ("questions.jsonl", "corpus.jsonl", "rated.txt"))
        texts = [_question(n) for n in range(world.questions)]
        questions.write_bytes(b"\n".join(orjson.dumps({"question": t, "answer": [f"Maker {n}"]})
                                         for n, t in enumerate(texts)))  # fmt: skip
        corpus.write_bytes(b"\n".join(orjson.dumps({"id": _passage_id(n, c), "contents": _contents(n, c)})
                                      for n in range(world.questions) for c in range(UNRATED + 1)))  # fmt: skip
        rated.write_text("\n".join(texts[: world.rated]))
        return benchmarks.add(
            NewBenchmark(world.benchmark_id, questions, [corpus], rated, title=f"Generated, {world.systems} systems",
                         synthetic=True, raters_per_item=RATERS)
        )  # fmt: skip


def _question(number: int) -> str:
    return f"who made invention number {number}"


def _passage_id(question: int, candidate: int) -> str:
    return f"http://en.wikipedia.org/wiki/Invention_{question}#Invention_{question}#Part_{candidate}#{candidate}"


def _contents(question: int, candidate: int) -> str:
    made = f"It was made by {_answer(question, candidate)} in {1700 + question % 300}." if candidate % 2 == 0 else ""
    title = f"Invention {question}"
    return f"« {title} » « {title}, Part {candidate} » This part tells of invention {question}. {made}".strip()


def _answer(question: int, candidate: int) -> str:
    return (f"Maker {question}", f"maker {question}", f"Doctor Maker {question}", "Somebody else", "Nobody")[candidate]


def _candidates(benchmark: Benchmark, rng: np.random.Generator) -> list[list[Item]]:
    """Items by candidate and question; the last candidate is no prediction."""
    found: list[list[Item]] = [[] for _ in range(UNRATED + 2)]
    for q in benchmark.questions:
        for c in range(UNRATED + 1):
            positive = int(rng.binomial(RATERS, _SUPPORT[c]))
            p = float(np.clip(rng.normal(_SUPPORT[c], 0.2), 0, 1))
            prediction = Prediction(q.position, _answer(q.position, c), *[_passage_id(q.position, c)] * 2)
            label = Label(q.position, prediction.answer, prediction.attribution, positive, RATERS,
                          2 * positive > RATERS)  # fmt: skip
            known = label if q.rated and c != UNRATED else None
            found[c].append(Item(q, prediction, Judgment(p, str(int(p >= 0.5))), known))
        found[UNRATED + 1].append(Item(q, None))
    return found


def _rate(session: Any, benchmark: Benchmark, items: list[list[Item]]) -> None:
    batch = RatingBatch(benchmark_id=benchmark.id, file_digest="0" * 64, author="generator", synthetic=True,
                        applied_at=utc_now())  # fmt: skip
    session.add(batch)
    session.flush()
    labels = [item.label for candidate in items for item in candidate if item.label]
    rows = [
        {"batch_id": batch.id, "row": n * RATERS + r, "benchmark_id": benchmark.id, "position": label.position,
         "triple": triple_key(label.position, label.answer, label.passage_id), "answer": label.answer,
         "near": near_key(label.position, label.answer, label.passage_id),
         "passage_id": label.passage_id, "rater": f"rater-{r + 1}", "interpretable": True,
         "supported": r < label.positive, "positive": r < label.positive}
        for n, label in enumerate(labels) for r in range(RATERS)
    ]  # fmt: skip
    session.execute(insert(RatingRow), rows)


def _choices(at: int, world: World, rng: np.random.Generator) -> Choices:
    skill = 0.25 + 0.5 * at / max(world.systems - 1, 1)
    rest = 1 - skill
    unrated = rest * 0.3 if at in world.partial else 0.0
    missing = 0.1 if at in world.short else 0.0
    odds = np.array([skill, rest * 0.25, rest * 0.2, rest * 0.55 - unrated, unrated, missing])
    return rng.choice(len(odds), size=world.questions, p=odds / odds.sum())


def _scored(benchmark: Benchmark, items: list[list[Item]], choices: Choices, world: World) -> list[Evaluation]:
    """One evaluation per system: the metrics' own values of the chosen candidates, and their intervals."""
    store_of, recipe = ResampleStore(), Recipe(benchmark, world.judge, "generated", world.resamples, world.seed)
    chosen = metrics.load_all()
    at = np.arange(world.questions)[:, None]
    values, scores = {}, [dict[str, Score]() for _ in range(world.systems)]
    for metric in chosen:
        table = np.full((world.questions, len(items)), np.nan)
        for c, candidate in enumerate(items):
            measured = metric.measure(candidate)
            table[list(measured.positions), c] = list(measured.values)
        values[metric.key] = table[at, choices]
        for system, score in enumerate(_scores(metric, items, choices, values[metric.key], recipe, store_of)):
            scores[system][metric.key] = score
    p = np.array([[item.judgment.p if item.judgment else np.nan for item in candidate] for candidate in items]).T
    values["autoais_p"] = p[at, choices]
    signature = recipe.whole(chosen)
    return [
        Evaluation(signature, world.judge, [], {}, scores[s], {key: each[:, s] for key, each in values.items()})
        for s in range(world.systems)
    ]


def _scores(
    metric: Metric, items: list[list[Item]], choices: Choices, values: Values, recipe: Recipe, store_of: ResampleStore
) -> list[Score]:
    """One published number per system; where every question counts, all systems are resampled at once."""
    whole = bool(np.isfinite(values).all()) and values.shape[1] > 0
    resamples = store_of.get(len(values), recipe.resamples, recipe.seed)
    together = estimates(values, resamples) if whole else ()
    scores = []
    for system in range(values.shape[1]):
        details: dict[str, Any] = {}
        if metric.key in _DETAILED:
            details = dict(metric.measure([items[c][q] for q, c in enumerate(choices[:, system])]).details)
        own = values[np.isfinite(values[:, system]), system]
        found = together[system] if whole else (
            estimates(own[:, None], store_of.get(len(own), recipe.resamples, recipe.seed))[0])  # fmt: skip
        scores.append(Score(metric.key, found.value, found.n, found.interval, recipe.of(metric), found.reason, details))
    return scores


def _submission(session: Any, benchmark: Benchmark, world: World, at: int, choices: Choices) -> Submission:
    name = f"Team {at % 5}"
    team = session.query(Team).filter_by(name=name).one_or_none() or Team(name=name)
    session.add(team)
    session.flush()
    system = System(
        team_id=team.id,
        name=world.names.get(at, f"System {at:03d}"),
        architecture=_ARCHITECTURES[at % len(_ARCHITECTURES)],
        supervision=("none", "64 exemplars", "all of NQ")[at % 3],
        description=f"Generated system {at}.",
        uses_autoais=at in world.uses_autoais,
        reference=at % 7 == 0,
    )
    session.add(system)
    session.flush()
    digest = sha256(choices.tobytes() + at.to_bytes(4)).hexdigest()
    submission = Submission(
        id=digest[:12], system_id=system.id, benchmark_id=benchmark.id, version=1, digest=digest, file_blob=digest,
        file_name="generated.csv", report={"counts": {}}, coverage=float((choices <= UNRATED).mean()), state="scored",
        stage="done", progress=1.0, published_at=utc_now(),
    )  # fmt: skip
    session.add(submission)
    session.flush()
    return submission


def _prediction_row(submission: str, prediction: Prediction) -> tuple[Any, ...]:
    return submission, prediction.position, prediction.answer, prediction.attribution, prediction.passage_id
