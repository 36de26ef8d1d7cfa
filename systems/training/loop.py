"""One way to fine-tune for all parts: transformers' Trainer, resumed from its last checkpoint, with provenance kept."""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import orjson

from core.errors import InvalidInput, NotFound

PROVENANCE = "training.json"
IGNORED = -100
"""The label that the loss leaves out."""
_Row = TypeVar("_Row")


@dataclass(frozen=True)
class Training:
    """How long and how fast; a step is one update of the weights, from `batch` × `accumulate` examples."""

    data: Path
    out: Path
    model: str
    steps: int
    batch: int = 1
    accumulate: int = 64
    rate: float = 5e-5
    warmup: int = 0
    save_every: int = 500
    seed: int = 0
    optimizer: str = "adamw_torch"
    checkpointing: bool = False
    """Recompute activations instead of keeping them: less memory, a third more time."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Options of every training script."""
    parser.add_argument("--data", type=Path, required=True, help="training examples, JSONL")
    parser.add_argument("--out", type=Path, required=True, help="folder for checkpoints and the trained model")
    parser.add_argument("--model", required=True, help="owner/name@revision or a folder to start from")
    parser.add_argument("--steps", type=int, required=True, help="updates of the weights")
    parser.add_argument("--batch", type=int, default=Training.batch, help="examples on a device at a time")
    parser.add_argument("--accumulate", type=int, default=Training.accumulate, help="batches per update")
    parser.add_argument("--rate", type=float, default=Training.rate, help="highest learning rate")
    parser.add_argument("--warmup", type=int, default=Training.warmup, help="updates until the rate is reached")
    parser.add_argument("--save-every", type=int, default=Training.save_every, help="updates between checkpoints")
    parser.add_argument("--seed", type=int, default=Training.seed)
    parser.add_argument("--optimizer", default=Training.optimizer, help="adamw_torch, adafactor, ...")
    parser.add_argument("--checkpointing", action="store_true", help="less memory, a third more time")


def read_rows(path: Path, parse: Callable[[dict[str, Any]], _Row]) -> list[_Row]:
    """The rows of a JSONL file. Raises `NotFound`, and `InvalidInput` naming the line that does not parse
    or if there is none."""
    if not path.is_file():
        raise NotFound(f"There is no file {path}.", "Check the path.")
    rows = []
    for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            rows.append(parse(orjson.loads(line)))
        except (orjson.JSONDecodeError, KeyError, TypeError, IndexError) as error:
            raise InvalidInput(f"{path.name}, line {number}: {error!r}", "See docs/llm.md for the fields.") from None
    if not rows:
        raise InvalidInput(f"{path.name} holds no example.", "Give JSONL, one example a line.")
    return rows


def fit(
    model: Any,
    tokenizer: Any,
    rows: Sequence[Any],
    collate: Callable[[list[Any]], dict[str, Any]],
    training: Training,
    facts: dict[str, Any],
) -> float:
    """Train, save the model as a folder that the readers load, and return the last mean loss.

    A folder with checkpoints of an earlier, stopped training is gone on with. `facts` join the provenance.
    """
    from transformers import Trainer
    from transformers.trainer_utils import get_last_checkpoint

    training.out.mkdir(parents=True, exist_ok=True)
    trainer = Trainer(model=model, args=_arguments(training), train_dataset=list(rows), data_collator=collate)
    last = get_last_checkpoint(str(training.out))
    result = trainer.train(resume_from_checkpoint=last)
    trainer.save_model(str(training.out))
    tokenizer.save_pretrained(str(training.out))
    _write_provenance(training, facts | {"examples": len(rows), "loss": result.training_loss, "resumed_from": last})
    return float(result.training_loss)


def _arguments(training: Training) -> Any:
    import torch
    from transformers import TrainingArguments

    return TrainingArguments(
        output_dir=str(training.out),
        max_steps=training.steps,
        per_device_train_batch_size=training.batch,
        gradient_accumulation_steps=training.accumulate,
        learning_rate=training.rate,
        warmup_steps=training.warmup,
        optim=training.optimizer,
        lr_scheduler_type="linear",
        seed=training.seed,
        data_seed=training.seed,
        save_steps=training.save_every,
        save_total_limit=2,
        logging_steps=max(1, training.steps // 100),
        bf16=torch.cuda.is_available(),
        activation_checkpointing=training.checkpointing,
        dataloader_pin_memory=torch.cuda.is_available(),
        remove_unused_columns=False,
        report_to="none",
    )


def _write_provenance(training: Training, facts: dict[str, Any]) -> None:
    import torch
    import transformers

    with training.data.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    told = {name: str(value) if isinstance(value, Path) else value for name, value in asdict(training).items()}
    told |= facts | {"data_sha256": digest, "torch": torch.__version__, "transformers": transformers.__version__}
    (training.out / PROVENANCE).write_text(json.dumps(told, indent=2) + "\n", "utf-8")
