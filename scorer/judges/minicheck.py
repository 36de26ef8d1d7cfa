"""MiniCheck's Flan-T5 judge (Tang et al. 2024): its own prompt and a softmax over two labels."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from core.errors import InvalidInput
from core.records import Judgment, Pair
from scorer.judges.options import Options
from scorer.judges.t5_model import T5Model
from scorer.judges.tokens import encode, label_id
from scorer.judges.verdict import flags, label

DEFAULT = "lytang/MiniCheck-Flan-T5-Large"


class MiniCheck:
    """p is the softmax of the first-step logits of `1` (supported) against `0`, after `predict: {doc}</s>{claim}`.

    The public code splits documents of more than 500 words and takes the best part; here a passage is judged whole.
    """

    def __init__(self, source: str, options: Options) -> None:
        """Pins and places the checkpoint; its weights wait for the first pair. Errors as in `T5Model`."""
        if options.compat:
            raise InvalidInput("compat belongs to T5 NLI judges", "Leave it out.")
        self.model = T5Model(source or DEFAULT, options)
        self._cap = options.premise_cap
        identity = self.model.checkpoint.identity
        self.key = f"minicheck:{identity}"
        self.title = f"MiniCheck {self.model.checkpoint.name}"
        self.score_name = "MiniCheck support"
        self.help = (
            "Probability that the passage supports the statement made of question and answer, by MiniCheck's "
            f"Flan-T5 fact checker ({identity}); supported from 0.5 on."
        )

    @property
    def signature(self) -> str:
        """Checkpoint, precision, template and cap."""
        parts = [f"judge:{self.model.checkpoint.identity}", f"dtype:{self.model.placement.dtype}"]
        return "|".join([*parts, "tmpl:aqa+minicheck", *[f"cap:{self._cap}"] * bool(self._cap)])

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment]:
        """Judgments in the order of `pairs`. Raises `NotFinite` for NaN."""
        rows, cut = self._encode(pairs)
        judgments: dict[int, Judgment] = {}
        for batch, logits in self.model.first_logits(rows):
            for row, p in zip(batch, logits[:, self._labels].softmax(-1)[:, 1].tolist(), strict=True):
                judgments[row] = Judgment(p, label(p), flags(p, cut[row]))
        return [judgments[row] for row in range(len(pairs))]

    @cached_property
    def _labels(self) -> list[int]:
        """The ids of `0` and `1`; T5 spells `0` by an empty piece first, so that one (3) is not read back."""
        return [label_id(self.model.tokenizer, "0"), self.model.label("1")]

    def _encode(self, pairs: Sequence[Pair]) -> tuple[list[list[int]], list[bool]]:
        tokenizer = self.model.tokenizer
        end = tokenizer.eos_token_id
        documents = encode(tokenizer, [f"predict: {pair.premise}" for pair in pairs])
        claims = encode(tokenizer, [pair.hypothesis for pair in pairs])
        room = [
            max(self._cap - len(claim) - 2, 0) if self._cap else len(document)
            for document, claim in zip(documents, claims, strict=True)
        ]
        cut = [len(document) > size for document, size in zip(documents, room, strict=True)]
        rows = [
            [*document[:size], end, *claim, end] for document, size, claim in zip(documents, room, claims, strict=True)
        ]
        return rows, cut


def load(source: str, options: Options) -> MiniCheck:
    """A MiniCheck Flan-T5 checkpoint, by default its Large one. Errors as in `T5Model`."""
    return MiniCheck(source, options)
