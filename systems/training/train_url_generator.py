"""Fine-tune a model to write an answer and a Wikipedia URL: `python -m systems.training.train_url_generator --help`.

Examples are JSONL: `{"question", "answers": [...], "url"}`. The paper fine-tuned PaLM-540B on NQ and on questions
made from SQuAD-like sentences (AQA §4.3); any causal or encoder-decoder checkpoint trains here. The text it learns is
what prompt `answer-url@1` asks for without exemplars, so the model runs as an LLM-as-retriever system with shots 0.
"""

from __future__ import annotations

import argparse
import random
from dataclasses import dataclass, fields
from typing import Any

from systems import prompts
from systems.checkpoints import fetch
from systems.training.loop import IGNORED, Training, add_options, fit, read_rows
from systems.training.script import run


@dataclass(frozen=True, slots=True)
class Example:
    """What the model is shown and what it should go on with."""

    prompt: str
    target: str


@dataclass(frozen=True)
class Collator:
    """Makes a batch's tensors. A causal model reads prompt and target as one text, its loss is over the target."""

    tokenizer: Any
    causal: bool

    def __call__(self, examples: list[Example]) -> dict[str, Any]:
        """`input_ids`, `attention_mask` and `labels`, padded on the right."""
        import torch

        end = self.tokenizer.eos_token_id
        shown = [self.tokenizer(each.prompt)["input_ids"] for each in examples]
        bare = [self.tokenizer(each.target, add_special_tokens=False)["input_ids"] + [end] for each in examples]
        inputs = [a + b for a, b in zip(shown, bare, strict=True)] if self.causal else shown
        labels = [[IGNORED] * len(a) + b for a, b in zip(shown, bare, strict=True)] if self.causal else bare

        def padded(rows: list[list[int]], value: int) -> Any:
            tensors = [torch.tensor(row) for row in rows]
            return torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True, padding_value=value)

        return {
            "input_ids": padded(inputs, end),
            "attention_mask": padded([[1] * len(row) for row in inputs], 0),
            "labels": padded(labels, IGNORED),
        }


def train(training: Training) -> float:
    """Train and save; returns the mean loss."""
    from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

    checkpoint, folder = fetch(training.model)
    dice = random.Random(training.seed)
    rows = read_rows(training.data, lambda entry: _example(entry, dice))
    causal = not AutoConfig.from_pretrained(folder, trust_remote_code=False).is_encoder_decoder
    kind = AutoModelForCausalLM if causal else AutoModelForSeq2SeqLM
    model = kind.from_pretrained(folder, dtype="float32", use_safetensors=True, trust_remote_code=False)
    tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
    facts = {"part": "answer-url", "started_from": checkpoint.identity, "prompt": _prompt().signature}
    return fit(model, tokenizer, rows, Collator(tokenizer, causal), training, facts)


def _prompt() -> prompts.Prompt:
    return prompts.load("answer-url@1")


def _example(entry: dict[str, Any], dice: random.Random) -> Example:
    """One of the references is the answer to learn, drawn once by the seed."""
    answer = " ".join(str(dice.choice(entry["answers"])).split())
    return Example(_prompt().render(entry["question"], []), f" {answer}\nURL: {entry['url']}")


def main() -> None:
    """Read the options and train."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser)
    chosen = vars(parser.parse_args())
    loss = train(Training(**{f.name: chosen[f.name] for f in fields(Training)}))
    print(f"mean loss {loss:.4f}; the model is in {chosen['out']}")


if __name__ == "__main__":
    run(main)
