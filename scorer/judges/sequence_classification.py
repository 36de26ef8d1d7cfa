"""Judges by any NLI cross-encoder: p is the softmax probability of its entailment label."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import torch

from core.errors import InvalidInput, NotFinite
from core.records import Judgment, Pair
from scorer.judges.batching import plan
from scorer.judges.checkpoints import fetch, read_config, resolve
from scorer.judges.options import Options
from scorer.judges.pair_template import PairTemplate, learn
from scorer.judges.placement import place
from scorer.judges.tokens import encode
from scorer.judges.verdict import flags

CPU_BUDGET, GPU_BUDGET = 1024, 16384
ENTAILED = frozenset({"entailment", "entail", "entailed", "entails"})
OTHER = frozenset(
    {"neutral", "contradiction", "contradict", "contradicts", "contradictory", "not_entailment", "non_entailment"}
)
TOO_LONG = "hypothesis-too-long"


class SequenceClassification:
    """A model with a fixed number of positions cuts the premise to fit and flags the row.

    A hypothesis that leaves no room for any premise is not cut: the row gets p = 0 and the flag `hypothesis-too-long`.
    """

    def __init__(self, source: str, options: Options) -> None:
        """Pins, checks and places the checkpoint; its weights wait for the first pair.

        Raises `InvalidInput` for a label map that names no entailment, else as `checkpoints.resolve` and `place`.
        """
        if options.compat:
            raise InvalidInput("compat belongs to T5 NLI judges", "Leave it out.")
        self.checkpoint = resolve(source)
        self._config = read_config(self.checkpoint)
        self._labels = {int(number): str(label).lower() for number, label in self._config.id2label.items()}
        self._positive = entailment(self._labels, self.checkpoint.identity)
        widest = max(getattr(self._config, "intermediate_size", 0), 4 * getattr(self._config, "hidden_size", 0))
        identity, budget = self.checkpoint.identity, options.batch_tokens or GPU_BUDGET
        self.placement = place(options, identity, self.checkpoint.parameters, 4 * widest * budget)
        self._budget = options.batch_tokens or (GPU_BUDGET if self.placement.on_gpu else CPU_BUDGET)
        limits = [cap for cap in (options.premise_cap, positions(self._config)) if cap]
        self._cap = min(limits) if limits else None
        self.key = f"nli:{identity}"
        self.title = f"NLI {self.checkpoint.name}"
        self.score_name = f"Entailment by {self.checkpoint.name}"
        self.help = (
            "Probability that the passage entails the statement made of question and answer, by the "
            f"sequence-classification model {identity}; attributable from 0.5 on."
        )

    @property
    def signature(self) -> str:
        """Checkpoint, precision, template and length limit."""
        parts = [f"judge:{self.checkpoint.identity}", f"dtype:{self.placement.dtype}", "tmpl:aqa+nli"]
        return "|".join([*parts, *([f"cap:{self._cap}"] if self._cap else [])])

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment]:
        """Judgments in the order of `pairs`. Raises `NotFinite` for NaN."""
        rows, cut, too_long = self._encode(pairs)
        judgments = {row: Judgment(0.0, "", (TOO_LONG,)) for row in too_long}
        kept = [row for row in range(len(pairs)) if row not in judgments]
        for batch in plan([len(rows[row]) for row in kept], self._budget):
            numbers = [kept[place] for place in batch]
            logits = self._logits([rows[row] for row in numbers])
            for row, values in zip(numbers, logits.softmax(-1).tolist(), strict=True):
                best = self._labels[max(range(len(values)), key=values.__getitem__)]
                p = values[self._positive]
                judgments[row] = Judgment(p, best, flags(p, cut[row]))
        return [judgments[row] for row in range(len(pairs))]

    def _encode(self, pairs: Sequence[Pair]) -> tuple[list[list[tuple[int, int]]], list[bool], list[int]]:
        """(id, type) of each row, whether its premise was cut, and the rows whose hypothesis leaves no room."""
        premises = encode(self._tokenizer, [pair.premise for pair in pairs])
        hypotheses = encode(self._tokenizer, [pair.hypothesis for pair in pairs])
        rows, cut, too_long = [], [], []
        for number, (premise, hypothesis) in enumerate(zip(premises, hypotheses, strict=True)):
            room = len(premise) if self._cap is None else self._cap - len(hypothesis) - self._template.size
            if room <= 0 and premise:
                too_long.append(number)
            rows.append(self._template.join(premise[: max(room, 0)], hypothesis))
            cut.append(len(premise) > room)
        return rows, cut, too_long

    @torch.inference_mode()
    def _logits(self, rows: list[list[tuple[int, int]]]) -> torch.Tensor:
        width, pad = max(map(len, rows)), self._tokenizer.pad_token_id
        padded = torch.tensor([[*row, *[(pad, 0)] * (width - len(row))] for row in rows])
        mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows])
        inputs = {"input_ids": padded[..., 0], "attention_mask": mask}
        if getattr(self._config, "type_vocab_size", 0) > 1:
            inputs["token_type_ids"] = padded[..., 1]
        device = self._network.device
        logits: torch.Tensor = self._network(
            **{name: value.to(device) for name, value in inputs.items()}
        ).logits.float()
        if not bool(logits.isfinite().all()):
            raise NotFinite(f"{self.checkpoint.identity} put out a number that is not finite", "Use fp32.")
        return logits

    @cached_property
    def _tokenizer(self) -> Any:
        from transformers import AutoTokenizer

        return AutoTokenizer.from_pretrained(fetch(self.checkpoint), local_files_only=True, trust_remote_code=False)

    @cached_property
    def _template(self) -> PairTemplate:
        return learn(self._tokenizer)

    @cached_property
    def _network(self) -> Any:
        from transformers import AutoModelForSequenceClassification

        device = self.placement.device
        return AutoModelForSequenceClassification.from_pretrained(
            fetch(self.checkpoint),
            dtype=self.placement.torch_dtype,
            device_map="auto" if device == "auto" else {"": device},
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
        ).eval()


def entailment(labels: dict[int, str], name: str) -> int:
    """The number of the entailment label. Raises `InvalidInput` unless every label is known and one is entailment."""
    plain = {number: label.strip().replace("-", "_").replace(" ", "_") for number, label in labels.items()}
    found = [number for number, label in plain.items() if label in ENTAILED]
    if len(found) != 1 or len(plain) < 2 or not set(plain.values()) <= ENTAILED | OTHER:
        raise InvalidInput(
            f"{name} has the labels {', '.join(repr(labels[number]) for number in sorted(labels))}; "
            "which of them is entailment cannot be told",
            "Set id2label in its config.json to entailment, neutral and contradiction (or not_entailment).",
        )
    return found[0]


def positions(config: Any) -> int | None:
    """Most tokens a model takes; None where its positions are relative alone (DeBERTa)."""
    if not getattr(config, "position_biased_input", True) or not hasattr(config, "max_position_embeddings"):
        return None
    reserved = config.pad_token_id + 1 if config.model_type in ("roberta", "xlm-roberta", "camembert") else 0
    return int(config.max_position_embeddings) - reserved


def load(source: str, options: Options) -> SequenceClassification:
    """An NLI cross-encoder: `ID`, `ID@REVISION` or a folder's path. Errors as in the class."""
    return SequenceClassification(source, options)
