"""Pinning, refusing and converting checkpoints; the memory a judge needs; batches."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from huggingface_hub.errors import NotASafetensorsRepoError  # noqa: E402

from core.errors import InvalidInput, NotFound, Refused, Unavailable  # noqa: E402
from scorer import judges  # noqa: E402
from scorer.judges import checkpoints, convert, placement  # noqa: E402
from scorer.judges.batching import plan  # noqa: E402
from scorer.judges.options import Options  # noqa: E402
from tests import tiny_t5  # noqa: E402

SHA = "0123456789abcdef0123456789abcdef01234567"
TRUE = "google/t5_xxl_true_nli_mixture"


class Hub:
    """The three answers of a hub that pinning asks for."""

    def __init__(self, files: list[str], counts: dict[str, int] | None = None, error: Exception | None = None) -> None:
        self.files, self.counts, self.error = files, counts or {}, error
        self.asked: list[str | None] = []

    def model_info(self, name: str, revision: str | None = None, files_metadata: bool = False) -> Any:
        self.asked.append(revision)
        if self.error:
            raise self.error
        return SimpleNamespace(sha=SHA, siblings=[SimpleNamespace(rfilename=name, size=None) for name in self.files])

    def get_safetensors_metadata(self, name: str, revision: str) -> Any:
        assert revision == SHA, "weights must be counted at the commit that was pinned"
        if not self.counts:
            raise NotASafetensorsRepoError("model.safetensors is elsewhere")
        return SimpleNamespace(parameter_count=self.counts)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_t5.random_t5(tmp_path_factory.mktemp("saved") / "t5", gated=False)


def test_a_branch_is_pinned_to_its_commit() -> None:
    hub: Any = Hub(["config.json", "model.safetensors"], {"F32": 11_000_000_000, "BF16": 5})
    found = checkpoints.resolve(f"{TRUE}@main", hub)
    assert found.identity == f"{TRUE}@{SHA}"
    assert found.parameters == 11_000_000_005
    assert hub.asked == ["main"]


@pytest.mark.parametrize("hub", [Hub(["pytorch_model.bin"]), Hub(["onnx/model.safetensors"])])
def test_pickled_weights_are_refused_with_the_command(hub: Any) -> None:
    with pytest.raises(Refused) as caught:
        checkpoints.resolve(TRUE, hub)
    assert f"python -m scorer.judges.convert {TRUE}" in caught.value.hint


def test_a_hub_out_of_reach(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    hub: Any = Hub([], error=OSError("no route"))
    with pytest.raises(Unavailable, match="no route"):
        checkpoints.resolve("nobody/none-such", hub)


@pytest.mark.parametrize(
    "source, error", [("", InvalidInput), ("/no/such/folder", NotFound), ("a/b/c/d", InvalidInput)]
)
def test_bad_sources(source: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        checkpoints.resolve(source)


def test_a_folder_is_named_by_its_content(folder: Path, tmp_path: Path) -> None:
    found = checkpoints.resolve(str(folder))
    network = transformers.T5ForConditionalGeneration.from_pretrained(folder)
    assert found.parameters == sum(parameter.numel() for parameter in network.parameters())
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    for path in folder.iterdir():
        (moved / path.name).write_bytes(path.read_bytes())
    assert checkpoints.resolve(str(moved)).identity == found.identity
    weights = bytearray((moved / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (moved / "model.safetensors").write_bytes(bytes(weights))
    assert checkpoints.resolve(str(moved)).identity != found.identity


@pytest.mark.parametrize("content", [b"", b"\xff" * 20, b"\x05\0\0\0\0\0\0\0[]"])
def test_a_broken_weights_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    (tmp_path / "model.safetensors").write_bytes(content)
    with pytest.raises(Refused, match="not a safetensors file"):
        checkpoints.resolve(str(tmp_path))


@pytest.mark.parametrize("shards", [1, 2])
def test_conversion_keeps_every_judgment(folder: Path, tmp_path: Path, shards: int) -> None:
    network = transformers.T5ForConditionalGeneration.from_pretrained(folder)
    pickled, made = tmp_path / "pickled", tmp_path / "made"
    pickled.mkdir()
    state = network.state_dict()
    names = sorted(state)
    for number in range(shards):
        part = {name: state[name] for name in names[number::shards]}
        torch.save(part, pickled / f"pytorch_model-{number + 1:05d}-of-{shards:05d}.bin")
    for path in folder.glob("*.json"):
        (pickled / path.name).write_bytes(path.read_bytes())
    with pytest.raises(Refused, match="holds no safetensors"):
        judges.load(f"t5:{pickled}")
    convert.convert(pickled, made, {"id": TRUE, "revision": SHA})
    judge = judges.load(f"true-t5-xxl:{made}")
    assert judge.score_name == "AutoAIS"
    assert judge.signature.startswith(f"judge:{TRUE}@{SHA[:12]}+local-")
    pairs = [tiny_t5.fact("Ada", "Rome", city) for city in tiny_t5.CITIES]
    expected = judges.load(f"t5:{folder}").judge(pairs)
    assert [j.p for j in judge.judge(pairs)] == pytest.approx([j.p for j in expected], abs=1e-6)


def test_another_checkpoint_never_passes_for_the_papers_judge(folder: Path) -> None:
    with pytest.raises(InvalidInput, match="not known to be"):
        judges.load(f"true-t5-xxl:{folder}")
    judge = judges.load(f"t5:{folder}")
    assert judge.score_name != "AutoAIS"


def test_pickled_code_does_not_run(tmp_path: Path) -> None:
    import pickle

    class Trap:
        def __reduce__(self) -> Any:
            return Path.touch, (tmp_path / "ran",)

    torch.save({"x": Trap()}, tmp_path / "pytorch_model.bin")
    with pytest.raises(pickle.UnpicklingError):
        convert.convert(tmp_path, tmp_path / "out")
    assert not (tmp_path / "ran").exists()


def test_a_machine_too_small_is_told_how_much_it_takes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placement, "available_memory", lambda: 100)
    with pytest.raises(Unavailable, match=r"needs .* GB; 0\.0 GB are free") as caught:
        judges.load(f"t5:{folder}?device=cpu")
    assert "never mixed" in caught.value.hint


def test_eleven_billion_parameters_take_twice_that_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placement, "available_memory", lambda: 24 << 30)
    options = Options(device="cpu", dtype="fp32")
    with pytest.raises(Unavailable, match=r"needs 44\.0 GB"):
        placement.place(options, TRUE, 11_000_000_000, 0)
    assert placement.place(Options(device="cpu", dtype="bf16"), TRUE, 11_000_000_000, 0).dtype == "bf16"


def test_cards_are_chosen_by_free_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    free = [10 << 30, 30 << 30]
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation=True: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda card: (free[card], 80 << 30))
    choose = placement.place
    assert choose(Options(), "x", 11_000_000_000, 0) == placement.Placement("cuda:1", "bf16")
    assert choose(Options(), "x", 18_000_000_000, 0) == placement.Placement("auto", "bf16")
    assert choose(Options(device="cuda:0"), "x", 1_000_000_000, 0).device == "cuda:0"
    for options in (Options(device="cuda:0"), Options(dtype="fp32")):
        with pytest.raises(Unavailable):
            choose(options, "x", 11_000_000_000, 0)
    with pytest.raises(InvalidInput, match="cuda:7"):
        choose(Options(device="cuda:7"), "x", 1, 0)


def test_a_gpu_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InvalidInput, match="no GPU"):
        placement.place(Options(device="cuda"), "x", 1, 0)
    with pytest.raises(InvalidInput, match="no precision"):
        placement.place(Options(dtype="int4"), "x", 1, 0)


@given(st.lists(st.integers(1, 300), max_size=60), st.integers(1, 2000))
def test_batches_hold_every_row_once_within_the_budget(lengths: list[int], budget: int) -> None:
    batches = plan(lengths, budget)
    assert sorted(row for batch in batches for row in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[row] for row in batch) <= budget
    assert [lengths[row] for batch in batches for row in batch] == sorted(lengths, reverse=True)


def test_provenance_that_is_not_the_converters(folder: Path, tmp_path: Path) -> None:
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / checkpoints.PROVENANCE).write_text(json.dumps(["x"]), encoding="utf-8")
    with pytest.raises(InvalidInput, match="converter"):
        checkpoints.resolve(str(tmp_path))
