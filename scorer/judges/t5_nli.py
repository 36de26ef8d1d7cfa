"""T5 judges of natural language inference: TRUE's mixture, which AQA's AutoAIS is, and others of its kind."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import torch

from core.errors import InvalidInput
from core.records import Judgment, Pair
from core.templates import t5_input
from scorer.judges.options import Options
from scorer.judges.t5_model import T5Model
from scorer.judges.tokens import encode
from scorer.judges.verdict import flags

TRUE = "google/t5_xxl_true_nli_mixture"
GREEDY_TOKENS = 20
"""Tokens the released script's greedy decoding may take."""


class T5NLI:
    """p is the probability of the token `1` at the first decoder step, over the whole vocabulary (AQA §5.2, TRUE)."""

    def __init__(self, source: str, options: Options) -> None:
        """Pins and places the checkpoint; its weights wait for the first pair. Errors as in `T5Model`."""
        self.model = T5Model(source, options)
        self._cap = options.premise_cap
        self._compat = options.compat
        checkpoint = self.model.checkpoint
        self.key = "true-t5-xxl" if checkpoint.name == TRUE else f"t5:{checkpoint.identity}"
        self.title = "T5-11B, TRUE mixture" if checkpoint.name == TRUE else f"T5 NLI {checkpoint.name}"
        self.score_name = "AutoAIS" if checkpoint.name == TRUE else f"Entailment by {checkpoint.name}"
        self.help = (
            "Probability that the passage entails the statement made of question and answer, by a T5 model trained "
            f"on natural language inference ({checkpoint.identity}); attributable from 0.5 on."
        )

    @property
    def signature(self) -> str:
        """Checkpoint, precision, template and whatever else moves p or the label."""
        parts = [f"judge:{self.model.checkpoint.identity}", f"dtype:{self.model.placement.dtype}", "tmpl:aqa"]
        parts += [f"cap:{self._cap}"] * bool(self._cap) + ["decode:greedy"] * self._compat
        return "|".join(parts)

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment]:
        """Judgments in the order of `pairs`. Raises `NotFinite` for NaN."""
        rows, cut = self._encode(pairs)
        judgments: dict[int, Judgment] = {}
        for batch, logits in self.model.first_logits(rows):
            p = logits.softmax(-1)[:, self._positive].tolist()
            for row, value, best in zip(batch, p, logits.argmax(-1).tolist(), strict=True):
                label = self._greedy(rows[row]) if self._compat else self._text(best)
                judgments[row] = Judgment(value, label, flags(value, cut[row]))
        return [judgments[row] for row in range(len(pairs))]

    @cached_property
    def _positive(self) -> int:
        return self.model.label("1")

    def _encode(self, pairs: Sequence[Pair]) -> tuple[list[list[int]], list[bool]]:
        """Ids of each row with the end token, and whether its premise was cut."""
        tokenizer = self.model.tokenizer
        end = tokenizer.eos_token_id
        rows = [[*ids, end] for ids in encode(tokenizer, [t5_input(p.premise, p.hypothesis) for p in pairs])]
        cut = [bool(self._cap) and len(row) > self._cap for row in rows]
        for number, too_long in enumerate(cut):
            if too_long:
                # the words of both parts are tokenized apart anyway, so the split moves no token
                tail = encode(tokenizer, [t5_input("", pairs[number].hypothesis).removeprefix("premise: ")])[0]
                head = encode(tokenizer, [f"premise: {pairs[number].premise}"])[0]
                rows[number] = [*head[: max(self._cap - len(tail) - 1, 0)], *tail, end]
        return rows, cut

    def _text(self, token: int) -> str:
        """How a token reads; the piece itself where it reads as nothing (T5's `0` starts with an empty piece)."""
        tokenizer = self.model.tokenizer
        text: str = tokenizer.decode([token]).strip() or tokenizer.convert_ids_to_tokens(token)
        return text

    def _greedy(self, row: list[int]) -> str:
        """What the released script compares with `1`: the decoded string of a greedy search, one row at a time."""
        network = self.model.network
        ids = torch.tensor([row], device=network.encoder.embed_tokens.weight.device)
        with torch.inference_mode():
            out = network.generate(
                input_ids=ids, attention_mask=torch.ones_like(ids), max_new_tokens=GREEDY_TOKENS, do_sample=False
            )
        text: str = self.model.tokenizer.decode(out[0], skip_special_tokens=True)
        return text


def load(source: str, options: Options) -> T5NLI:
    """Any T5 NLI checkpoint: `ID`, `ID@REVISION` or a folder's path. Errors as in `T5Model`."""
    return T5NLI(source, options)


def load_true(source: str, options: Options) -> T5NLI:
    """The paper's judge from the hub, or from a folder that `scorer.judges.convert` made of it.

    Raises `InvalidInput` where the folder was not made of it.
    """
    judge = T5NLI(source or TRUE, options)
    if judge.model.checkpoint.name != TRUE:
        raise InvalidInput(f"{source} is not known to be {TRUE}", "Convert that checkpoint, or name it by `t5:`.")
    return judge
