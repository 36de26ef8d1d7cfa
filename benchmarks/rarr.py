"""RARR on several passages together against one passage at a time: same model, same steps, same threads.

`vs_one_at_a_time`: tokens that SmolLM2-135M-Instruct reads and writes per second (by transformers; as the traces count
them) when `Small-RARR` works on the first passages of the demo's editing benchmark together, against the same system on
`--alone` of them one after another, where each call is of one prompt. Tokens, since passages differ in how many
questions and edits they need. Also told: the ratio of processor seconds per token (`cpu_ratio`), which a busy machine
disturbs less; passages a minute; and the share of passages that came out the same both ways, since rounding may turn a
near-tie.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core import corpus as corpora
from core.corpus import Corpus
from core.records import Question
from core.tracks import EDITING
from systems import catalog
from systems.parts import Parts
from systems.retrieval.store import IndexStore

DEMO = Path(__file__).resolve().parents[1] / "server" / "demo" / "data"
TOGETHER, ALONE = 32, 4


def passages(count: int) -> list[Question]:
    """The first passages of the demo's editing benchmark."""
    lines = (DEMO / "editing" / "passages.jsonl").read_text("utf-8").splitlines()[:count]
    told = [json.loads(line) for line in lines]
    return [Question(at, t["id"], t["text"], (), context=tuple(t["context"])) for at, t in enumerate(told)]


def parts(folder: Path) -> Parts:
    """The demo's corpus, and an index to be built over it."""
    digest, _ = corpora.build([DEMO / "corpus.jsonl"], folder / "corpora")
    corpus = Corpus(folder / "corpora" / f"{digest}.sqlite")
    return Parts(corpus, IndexStore(folder / "indexes"), track=EDITING)


def timed(system: Any, groups: Sequence[Sequence[Question]]) -> tuple[dict[str, float], list[Any]]:
    """Seconds, processor seconds and tokens of all groups, one after another, and what came out."""
    begun, used = time.perf_counter(), time.process_time()
    outputs = [output for group in groups for output in system.answer(group)]
    spent = {"seconds": time.perf_counter() - begun, "cpu": time.process_time() - used}
    usages = [output.trace["usage"] for output in outputs]
    return spent | {"tokens": float(sum(each["prompt_tokens"] + each["new_tokens"] for each in usages))}, outputs


def vs_one_at_a_time(together: int, alone: int) -> dict[str, Any]:
    """Rates both ways; the passages done alone are spread over those done together."""
    items = passages(together)
    chosen = items[:: max(1, together // alone)][:alone]
    with tempfile.TemporaryDirectory() as folder:
        system: Any = catalog.make(catalog.find("Small-RARR"), parts(Path(folder)))
        system.editor.writer.llm.generate(["warm"], max_new_tokens=2)
        theirs, singly = timed(system, [[item] for item in chosen])
        ours, whole = timed(system, [items])
    by_position = {output.position: output.revision for output in whole}
    rates = {name: each["tokens"] / each["seconds"] for name, each in (("ours", ours), ("theirs", theirs))}
    return {
        "ratio": rates["ours"] / rates["theirs"], **rates, "unit": "tokens/s",
        "cpu_ratio": (theirs["cpu"] / theirs["tokens"]) / (ours["cpu"] / ours["tokens"]),
        "passages_per_minute": {"ours": 60 * together / ours["seconds"], "theirs": 60 * alone / theirs["seconds"]},
        "seconds": {"ours": ours["seconds"], "theirs": theirs["seconds"]}, "passages": [together, alone],
        "same": sum(output.revision == by_position[output.position] for output in singly) / alone,
    }  # fmt: skip


def main() -> None:
    """Measure and print one JSON object as the last line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print only the JSON object")
    parser.add_argument("--passages", type=int, default=TOGETHER, help="worked on together")
    parser.add_argument("--alone", type=int, default=ALONE, help="of them also worked on alone")
    parser.add_argument("--threads", type=int, default=0, help="of torch; 0 leaves its own number")
    chosen = parser.parse_args()
    if chosen.threads:
        import torch

        torch.set_num_threads(chosen.threads)
    result = {"vs_one_at_a_time": vs_one_at_a_time(chosen.passages, chosen.alone)}
    if not chosen.json:
        told = result["vs_one_at_a_time"]
        print(f"{told['ours']:.0f} against {told['theirs']:.0f} {told['unit']}, {told['ratio']:.2f} times")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
