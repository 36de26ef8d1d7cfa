"""One line per stored number that lets another reproduce it, in the manner of sacreBLEU."""

from __future__ import annotations

from dataclasses import dataclass

from core.benchmark import Benchmark
from core.ports import Judge, Metric
from core.text import hash_key
from scorer.judges.verdict import THRESHOLD


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that a submission's scores depend on besides its content."""

    benchmark: Benchmark
    judge: str
    labels: str
    resamples: int
    seed: int
    sentences: str = ""
    """How texts were parted into sentences, where the track does so."""

    def of(self, metric: Metric) -> str:
        """The signature of one metric's number."""
        parts = [metric.key, f"bench:{self.benchmark.name}"]
        for what in metric.rests_on:
            parts += self._parts(what)
        return "|".join([*parts, f"bs:{self.resamples}", f"seed:{self.seed}", f"v:{metric.version}"])

    def of_population(self) -> str:
        """The signature of the PPI estimate beside AIS, which rests on the judge as well."""
        parts = ["ais_ppi", f"bench:{self.benchmark.name}", self.judge, f"labels:{self.labels}", "alpha:0.05", "v:1.0"]
        return "|".join(parts)

    def whole(self, metrics: list[Metric]) -> str:
        """The signature of an evaluation: changes whenever any metric's does."""
        versions = hash_key(*(f"{metric.key}:{metric.version}" for metric in metrics), size=6).hex()
        sentences = f"|{self.sentences}" if self.sentences else ""
        return (
            f"bench:{self.benchmark.name}|{self.judge}{sentences}|labels:{self.labels}|metrics:{versions}"
            f"|bs:{self.resamples}|seed:{self.seed}"
        )

    def _parts(self, what: str) -> list[str]:
        return {
            "judge": [self.judge],
            "threshold": [f"thr:{THRESHOLD}"],
            "sentences": [self.sentences],
            "labels": [f"labels:{self.labels}", f"raters:{self.benchmark.raters_per_item}"],
        }[what]


def without_labels(signature: str) -> str:
    """A signature without the labels used, which differ from entry to entry."""
    return "|".join(part for part in signature.split("|") if not part.startswith("labels:"))


def recipe(benchmark: Benchmark, judge: Judge, labels: str, resamples: int, seed: int, sentences: str = "") -> Recipe:
    """The recipe for one submission under the present judge, labels and settings."""
    return Recipe(benchmark, judge.signature, labels, resamples, seed, sentences)
