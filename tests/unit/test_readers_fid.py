"""Fusion-in-Decoder against a plain reference, and its training by overfitting a tiny random T5."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from core.errors import InvalidInput, NotFound, Refused  # noqa: E402
from core.records import Passage  # noqa: E402
from systems import readers  # noqa: E402
from systems.readers.fid import FidReader, load  # noqa: E402
from systems.readers.fid_inputs import encode, fid_text  # noqa: E402
from systems.training.loop import Training  # noqa: E402
from systems.training.train_fid import train  # noqa: E402
from tests.tiny_t5 import CITIES, PEOPLE, random_t5, tokenizer  # noqa: E402


def passage(person: str, city: str, more: str = "") -> Passage:
    return Passage(f"{person}-{city}", person, person, f"{person} live in {city} {more}".strip())


QUESTIONS = ["where does Ada live", "where does Kurt live", "where does Rosa live"]
PASSAGES = [
    [passage("Ada", "Rome"), passage("Kurt", "Oslo", "the answer is in the question " * 4), passage("Alan", "Lima")],
    [passage("Kurt", "Paris")],
    [passage("Rosa", "Quito", "x" * 30), passage("Emmy", "Cairo")],
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return random_t5(tmp_path_factory.mktemp("t5"), seed=3)


@pytest.fixture(scope="module")
def reader(folder: Path) -> FidReader:
    loaded = load(str(folder), device="cpu")
    loaded.max_new_tokens = 6
    return loaded


def reference(model: transformers.T5ForConditionalGeneration, ids: list[list[int]], forced: list[int]) -> torch.Tensor:
    """Logits after each of `forced`: passages encoded one by one, nothing padded, nothing cached."""
    states = torch.cat([model.encoder(input_ids=torch.tensor([each]))[0] for each in ids], dim=1)
    outputs = model(
        encoder_outputs=transformers.modeling_outputs.BaseModelOutput(last_hidden_state=states),
        decoder_input_ids=torch.tensor([forced]),
        use_cache=False,
    )
    return outputs.logits[0]


def reference_tokens(model: transformers.T5ForConditionalGeneration, ids: list[list[int]], steps: int) -> list[int]:
    written = [model.config.decoder_start_token_id]
    for _ in range(steps):
        written.append(int(reference(model, ids, written)[-1].argmax()))
        if written[-1] == model.config.eos_token_id:
            break
    return written[1:]


def token_ids(reader: FidReader) -> list[list[list[int]]]:
    return [
        reader.tokenizer([fid_text(question, each) for each in some])["input_ids"]
        for question, some in zip(QUESTIONS, PASSAGES, strict=True)
    ]


@torch.inference_mode()
def test_logits_equal_those_of_passages_encoded_one_by_one(reader: FidReader, folder: Path):
    plain = transformers.T5ForConditionalGeneration.from_pretrained(folder, dtype=torch.float32).eval()
    ids, forced = token_ids(reader), [0, 7, 9, 30]
    inputs, mask = encode(ids, 512, 0, 1)
    fused = reader.model(input_ids=inputs, attention_mask=mask, decoder_input_ids=torch.tensor([forced] * 3)).logits
    for row, each in enumerate(ids):
        torch.testing.assert_close(fused[row], reference(plain, each, forced), atol=2e-5, rtol=1e-5)


@torch.inference_mode()
def test_answers_equal_a_greedy_loop_without_cache(reader: FidReader, folder: Path):
    plain = transformers.T5ForConditionalGeneration.from_pretrained(folder, dtype=torch.float32).eval()
    expected = [reference_tokens(plain, each, 6) for each in token_ids(reader)]
    texts = [reader.tokenizer.decode(each, skip_special_tokens=True) for each in expected]
    readings = reader.read_all(QUESTIONS, PASSAGES)
    assert [each.trace["raw"] for each in readings] == texts
    assert [each.trace["usage"]["new_tokens"] for each in readings] == [len(each) for each in expected]


@torch.inference_mode()
@pytest.mark.parametrize("rows", [1, 2, None])
def test_states_do_not_depend_on_how_many_passages_are_encoded_at_once(reader: FidReader, rows: int | None):
    inputs, mask = encode(token_ids(reader), 512, 0, 1)
    states, there = reader.model.fuse(inputs, mask, rows)
    alone = torch.cat([reader.model.encoder(input_ids=torch.tensor([each]))[0] for each in token_ids(reader)[0]], dim=1)
    torch.testing.assert_close(states[0, there[0].bool()], alone[0], atol=2e-5, rtol=1e-5)
    assert there.sum(1).tolist() == [sum(map(len, each)) for each in token_ids(reader)]


def test_the_order_of_questions_and_their_batches_change_no_answer(reader: FidReader):
    together = [each.answer for each in reader.read_all(QUESTIONS, PASSAGES)]
    apart = [reader.read(question, some).answer for question, some in zip(QUESTIONS, PASSAGES, strict=True)]
    assert together == apart
    assert [each.answer for each in reader.read_all(QUESTIONS[::-1], PASSAGES[::-1])] == together[::-1]


def test_without_passages_there_is_no_answer_and_no_call(reader: FidReader):
    readings = reader.read_all(["where", QUESTIONS[0]], [[], PASSAGES[0]])
    assert (readings[0].answer, readings[0].best, readings[0].trace) == ("", None, {})
    assert readings[1].trace["usage"]["prompt_tokens"] == sum(map(len, token_ids(reader)[0]))


def test_a_long_passage_is_cut_and_said_to_be(folder: Path):
    reader = load(str(folder), device="cpu")
    reader.max_tokens, reader.max_new_tokens = 40, 2
    reading = reader.read(QUESTIONS[0], PASSAGES[0])
    assert reading.trace["cut_passages"] == [1]
    inputs, mask = encode(token_ids(reader)[:1], 40, 0, 1)
    assert inputs.shape[2] == 40
    assert inputs[0, 1, 39] == 1, "a cut passage still ends with the end token"
    assert int(mask.sum()) == reading.trace["usage"]["prompt_tokens"]


def test_what_cannot_be_a_reader_is_refused(tmp_path: Path, folder: Path):
    with pytest.raises(InvalidInput, match="float16"):
        load(str(folder), dtype="float16")
    with pytest.raises(NotFound):
        load(str(tmp_path / "nothing"))
    (tmp_path / "config.json").write_text('{"model_type": "t5"}')
    (tmp_path / "pytorch_model.bin").write_bytes(b"pickled")
    with pytest.raises(Refused, match="safetensors"):
        load(str(tmp_path))
    with pytest.raises(InvalidInput, match="no reader"):
        readers.load("oracle", model=str(folder))


def test_the_signature_names_the_weights(reader: FidReader, folder: Path, tmp_path: Path):
    other = load(str(random_t5(tmp_path, seed=4)), device="cpu")
    assert reader.signature.startswith("fid:local@")
    assert "dtype=float32" in reader.signature
    assert other.signature.split("@")[1] != reader.signature.split("@")[1]


def examples(path: Path) -> Path:
    """People live where one passage says; the others are about somebody else."""
    rows = []
    for at, person in enumerate(PEOPLE):
        others = [PEOPLE[(at + step) % len(PEOPLE)] for step in (1, 2)]
        told = [{"title": who, "text": f"{who} live in {CITIES[PEOPLE.index(who)]}"} for who in (person, *others)]
        told = told[at % 3 :] + told[: at % 3]
        rows.append({"question": f"where does {person} live", "answers": [CITIES[at]], "passages": told})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_training_overfits_resumes_and_gives_a_reader(tmp_path: Path, folder: Path):
    data, out = examples(tmp_path / "train.jsonl"), tmp_path / "out"
    options = {"data": data, "out": out, "model": str(folder), "batch": 6, "accumulate": 1, "rate": 3e-3}
    first = train(Training(**options, steps=20, save_every=20), passages=3)
    train(Training(**options, steps=60, save_every=30), passages=3)
    told = json.loads((out / "training.json").read_text())
    assert told["resumed_from"].endswith("checkpoint-20")
    assert told["passages"] == 3
    assert told["examples"] == len(PEOPLE)
    assert told["loss"] < first / 2
    reader = load(str(out), device="cpu")
    rows = [json.loads(line) for line in data.read_text().splitlines()]
    passages = [[Passage("", each["title"], each["title"], each["text"]) for each in row["passages"]] for row in rows]
    readings = reader.read_all([row["question"] for row in rows], passages)
    assert [each.answer for each in readings] == list(CITIES)


def test_broken_training_examples_are_named(tmp_path: Path, folder: Path):
    path = tmp_path / "train.jsonl"
    good = {"question": "q", "answers": ["a"], "passages": [{"title": "t", "text": "x"}]}
    path.write_text(json.dumps(good) + "\n" + json.dumps(good | {"passages": []}) + "\n")
    with pytest.raises(InvalidInput, match="line 2"):
        train(Training(path, tmp_path / "out", str(folder), steps=1), passages=3)


def test_the_tokenizer_of_these_tests_keeps_whole_names():
    assert len(tokenizer()("Paris")["input_ids"]) == 2
