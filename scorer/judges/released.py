"""The T5-11B judge of the paper as far as its released ratings go: it answers from the cache alone (AQA §5.2)."""

from __future__ import annotations

from collections.abc import Sequence

from core.errors import InvalidInput, Unavailable
from core.ports import Judge
from core.records import Judgment, Pair
from scorer.judges.options import Options

SIGNATURE = "judge:released@aqa-ratings|model:google/t5_xxl_true_nli_mixture|tmpl:aqa"


class Released:
    """Knows the pairs that `aqa import released` stored, and no other.

    Precision and revision of the model behind the release are not known, so its scores have a signature of their own.
    """

    key = "released"
    title = "T5-11B, released scores"
    help = "The scores of the T5-11B entailment model that the paper released; it knows those pairs only."
    score_name = "AutoAIS"
    signature = SIGNATURE

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment]:
        """Raises `Unavailable`: what is asked of the judge itself is in no cache."""
        raise Unavailable(
            f"The released scores do not hold {len(pairs)} of the pairs, such as: {pairs[0].hypothesis[:200]}",
            "Score this file with another judge; this one knows the released systems' answers only.",
        )


def load(source: str, options: Options) -> Judge:
    """The judge. Raises `InvalidInput` for a source: there is one release."""
    if source:
        raise InvalidInput(f"the judge 'released' takes no source, so not {source!r}", "Name it plainly: released.")
    return Released()
