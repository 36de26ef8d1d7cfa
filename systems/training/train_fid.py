"""Train a Fusion-in-Decoder reader on T passages a question: `python -m systems.training.train_fid --help`.

Examples are JSONL, as `systems.training.make_fid_data` writes them: `{"question", "answers": [...], "passages":
[{"title", "headings"?, "text"}, ...]}`, best passage first. AQA trained T5 XL with T = 50 (RTR-10); how long and how
fast the paper does not say. The folder that comes out is what `reader: fid` takes as its model.
"""

from __future__ import annotations

import argparse
import random
from dataclasses import dataclass, fields
from typing import Any

from core.records import Passage
from systems.checkpoints import fetch
from systems.readers.fid_inputs import MAX_TOKENS, encode, fid_text
from systems.training.loop import IGNORED, Training, add_options, fit, read_rows
from systems.training.script import run


@dataclass(frozen=True, slots=True)
class Example:
    """A question, the answer to learn and the passages to read."""

    question: str
    answer: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True)
class Collator:
    """Makes a batch's tensors: inputs as the reader's, labels padded on the right."""

    tokenizer: Any
    max_tokens: int

    def __call__(self, examples: list[Example]) -> dict[str, Any]:
        """`input_ids` and `attention_mask` of three dimensions, and `labels` of two."""
        import torch

        pad, end = self.tokenizer.pad_token_id, self.tokenizer.eos_token_id
        ids = [self.tokenizer([fid_text(e.question, p) for p in e.passages])["input_ids"] for e in examples]
        inputs, mask = encode(ids, self.max_tokens, pad, end)
        answers = [torch.tensor(self.tokenizer(example.answer)["input_ids"]) for example in examples]
        labels = torch.nn.utils.rnn.pad_sequence(answers, batch_first=True, padding_value=IGNORED)
        return {"input_ids": inputs, "attention_mask": mask, "labels": labels}


def train(training: Training, passages: int, max_tokens: int = MAX_TOKENS) -> float:
    """Train on the first `passages` passages of each example; returns the mean loss."""
    from transformers import AutoTokenizer

    from systems.readers.fused_t5 import FusedT5

    checkpoint, folder = fetch(training.model)
    dice = random.Random(training.seed)
    rows = read_rows(training.data, lambda entry: _example(entry, passages, dice))
    model = FusedT5.from_pretrained(folder, dtype="float32", use_safetensors=True)
    tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
    facts = {"part": "fid", "started_from": checkpoint.identity, "passages": passages, "max_tokens": max_tokens}
    return fit(model, tokenizer, rows, Collator(tokenizer, max_tokens), training, facts)


def _example(entry: dict[str, Any], passages: int, dice: random.Random) -> Example:
    """One of the references is the answer to learn, drawn once by the seed."""
    read = tuple(
        Passage(id="", title=each["title"], headings=each.get("headings", each["title"]), text=each["text"])
        for each in entry["passages"][:passages]
    )
    if not read:
        raise IndexError("no passage")
    return Example(entry["question"], dice.choice(entry["answers"]), read)


def main() -> None:
    """Read the options and train."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser)
    parser.add_argument("--passages", type=int, default=50, help="T: passages read per question in training")
    parser.add_argument("--max-tokens", type=int, default=MAX_TOKENS, help="tokens of question and passage together")
    chosen = vars(parser.parse_args())
    passages, max_tokens = chosen.pop("passages"), chosen.pop("max_tokens")
    loss = train(Training(**{f.name: chosen[f.name] for f in fields(Training)}), passages, max_tokens)
    print(f"mean loss {loss:.4f}; the model is in {chosen['out']}")


if __name__ == "__main__":
    run(main)
