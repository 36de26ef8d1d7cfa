"""What systems load: whole checkpoints of safetensors, named by their content; all else is told and refused."""

from __future__ import annotations

import ast
import json
import shutil
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from core.errors import InvalidInput, NotFound, Refused
from systems import llm, readers
from systems.checkpoints import fetch
from systems.retrieval.encoder import load_encoder
from tests import tiny_t5


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_t5.random_t5(tmp_path_factory.mktemp("saved") / "t5", gated=False)


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """A copy that a test may spoil."""
    return Path(shutil.copytree(whole, tmp_path / "model"))


def test_a_folder_is_named_by_its_content(folder: Path, whole: Path) -> None:
    found, here = fetch(str(folder))
    assert here == folder
    assert found.identity == fetch(str(whole))[0].identity
    assert found.name == "local"
    (folder / "checkpoint-500").mkdir()
    (folder / "checkpoint-500" / "trainer_state.json").write_text("{}")
    assert fetch(str(folder))[0].identity == found.identity
    (folder / "config.json").write_text((folder / "config.json").read_text() + " ")
    assert fetch(str(folder))[0].identity != found.identity


@pytest.mark.parametrize(
    ("where", "error"), [("", InvalidInput), ("/no/such/folder", NotFound), ("a/b/c/d", InvalidInput)]
)
def test_what_names_no_checkpoint(where: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        fetch(where)


def test_a_folder_without_a_tokenizer(folder: Path) -> None:
    for path in folder.iterdir():
        if path.name not in ("config.json", "generation_config.json") and path.suffix != ".safetensors":
            path.unlink()
    with pytest.raises(Refused, match="holds no tokenizer") as caught:
        llm.load(str(folder))
    assert "save_pretrained" in caught.value.hint


def test_pickled_weights_alone(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    for load in (lambda: llm.load(str(folder)), lambda: readers.load("fid", model=str(folder))):
        with pytest.raises(Refused, match="pickled weights can run code"):
            load()


def test_a_part_with_pickled_weights_alone(folder: Path) -> None:
    """As the last layer of some sentence encoders; its content would be no part of the model's name."""
    (folder / "2_Dense").mkdir()
    (folder / "2_Dense" / "pytorch_model.bin").write_bytes(b"x")
    with pytest.raises(Refused, match="The part 2_Dense"):
        load_encoder(str(folder))
    (folder / "2_Dense" / "model.safetensors").write_bytes(b"x")
    assert fetch(str(folder))


def changed(folder: Path, **fields: object) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def test_code_of_its_own_is_never_run(folder: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    (folder / "evil.py").write_text(f"open({str(ran)!r}, 'w')\nclass EvilConfig: pass\n")
    changed(folder, model_type="evil", auto_map={"AutoConfig": "evil.EvilConfig", "AutoModelForCausalLM": "evil.E"})
    for load in (lambda: llm.load(str(folder)), lambda: readers.load("fid", model=str(folder))):
        with pytest.raises(Refused, match="cannot be loaded") as caught:
            load()
        assert "no code of its own" in caught.value.hint
    assert not ran.exists()


@pytest.mark.parametrize("spoil", ["type", "json", "weights", "shape"])
def test_what_a_library_chokes_on_is_a_refusal_of_the_model(folder: Path, spoil: str) -> None:
    """Else a worker would try it three times and tell a traceback's last line."""
    if spoil == "type":
        changed(folder, model_type="no-such-type")
    elif spoil == "json":
        (folder / "config.json").write_text("{")
    elif spoil == "weights":
        (folder / "model.safetensors").write_bytes(b"not safetensors")
    else:
        changed(folder, d_model=17)
    with pytest.raises(Refused, match="cannot be loaded") as caught:
        llm.load(str(folder))
    assert "\n" not in caught.value.message


def test_no_loader_may_ask_on_the_terminal_whether_to_run_a_models_code() -> None:
    """transformers does unless it is told not to; a worker has nobody who could say no."""
    root, asking = Path(__file__).parents[2], []
    for path in (path for room in ("systems", "scorer", "server", "core") for path in (root / room).rglob("*.py")):
        for call in (node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)):
            named = {word.arg for word in call.keywords}
            if ast.unparse(call.func).endswith(".from_pretrained") and ast.unparse(call.func).startswith("Auto"):
                told = "trust_remote_code" in named or None in named
                asking += [] if told else [f"{path.relative_to(root)}:{call.lineno}"]
    assert asking == []
