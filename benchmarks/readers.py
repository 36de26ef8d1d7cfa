"""Language models in batches against one prompt at a time, and the FiD reader beside its own encoder.

`llm_batch`: SmolLM2-135M-Instruct by transformers over few-shot prompts of the demo's questions, new tokens per second
in batches of 16 against one at a time, same model, same threads; prompts of about 110 tokens, 32 new ones (reading a
longer prompt costs the same either way, so batches gain less there). Also told: the share of texts that are
the same, since rounding may turn a near-tie.
`fid_passages`: passages per second of the whole FiD reader (T5-small's shape, random weights, 50 passages a question,
16 new tokens) against the encoder alone on the same passages in the reader's own batches.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.records import Passage
from systems import llm, prompts
from systems.prompts import Exemplar
from systems.readers.fid import FidReader

DEMO = Path(__file__).resolve().parents[1] / "server" / "demo" / "data"
PROMPTS, SHOTS, NEW_TOKENS, BATCH = 32, 4, 32, 16
QUESTIONS, PASSAGES, ANSWER_TOKENS = 3, 50, 16


def _lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DEMO / name).read_text("utf-8").splitlines()]


def _seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.perf_counter()
    result = work()
    return time.perf_counter() - begun, result


def llm_batch(count: int) -> dict[str, Any]:
    """Rates of one loaded model; the text is not stopped early, so that both ways write the same number of tokens."""
    prompt = prompts.load("closed-book@1")
    shown = [Exemplar(each["question"], each["answer"][0]) for each in _lines("exemplars.jsonl")[:SHOTS]]
    asked = [prompt.render(each["question"], shown) for each in _lines("questions.jsonl")[:count]]
    model: Any = llm.load("smollm2-batched")
    model.generate(asked[:1], max_new_tokens=4)
    rates, texts = {}, {}
    for name, batch in (("ours", BATCH), ("theirs", 1)):
        model.batch = batch
        seconds, told = _seconds(lambda: model.generate(asked, max_new_tokens=NEW_TOKENS))
        rates[name] = sum(each.new_tokens for each in told) / seconds
        texts[name] = [each.text for each in told]
    same = sum(a == b for a, b in zip(texts["ours"], texts["theirs"], strict=True)) / len(asked)
    return {"ratio": rates["ours"] / rates["theirs"], **rates, "unit": "new tokens/s", "same_texts": same}


def fid_passages() -> dict[str, Any]:
    """Rates of the reader and of its encoder over the demo's passages."""
    reader = _random_reader()
    passages = [_passage(each) for each in _lines("corpus.jsonl")[: QUESTIONS * PASSAGES]]
    groups = [passages[at * PASSAGES : (at + 1) * PASSAGES] for at in range(QUESTIONS)]
    questions = [each["question"] for each in _lines("questions.jsonl")[:QUESTIONS]]
    reader.read_all(questions[:1], groups[:1])
    whole, _ = _seconds(lambda: reader.read_all(questions, groups))
    reader.model.generate = lambda **inputs: inputs["attention_mask"][:, :1]  # the decoder is left out
    encoder, _ = _seconds(lambda: reader.read_all(questions, groups))
    rates = {"ours": len(passages) / whole, "theirs": len(passages) / encoder}
    return {"ratio": rates["ours"] / rates["theirs"], **rates, "unit": "passages/s"}


def _random_reader() -> FidReader:
    """T5-small's shape with random weights, and a tokenizer of whole words: text becomes about 1.3 tokens a word."""
    import torch
    from transformers import T5Config, T5TokenizerFast

    from systems.readers.fused_t5 import FusedT5

    words = sorted({word for each in _lines("corpus.jsonl") for word in each["contents"].split()})
    letters = sorted({letter for word in words for letter in word} | {"▁"} | set("questiontlcx:?'"))
    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    pieces += [(f"▁{word}", -8.0) for word in words] + [(letter, -12.0) for letter in letters]
    torch.manual_seed(0)
    model = FusedT5(T5Config(vocab_size=32_128, decoder_start_token_id=0)).eval()
    model.generation_config.eos_token_id = None  # random weights end by chance; every answer is of one length here
    return FidReader(model, T5TokenizerFast(vocab=pieces), "random", max_new_tokens=ANSWER_TOKENS)


def _passage(entry: dict[str, Any]) -> Passage:
    title, text = entry["id"].split("#")[1], entry["contents"].split("»")[-1]
    return Passage(entry["id"], title, title, text.strip())


def main() -> None:
    """Measure and print one JSON object as the last line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print only the JSON object")
    parser.add_argument("--prompts", type=int, default=PROMPTS)
    chosen = parser.parse_args()
    result = {"llm_batch": llm_batch(chosen.prompts), "fid_passages": fid_passages()}
    if not chosen.json:
        for key, told in result.items():
            print(f"{key}: {told['ours']:.1f} against {told['theirs']:.1f} {told['unit']}, {told['ratio']:.2f} times")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
