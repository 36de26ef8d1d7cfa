"""Specs, options and lazy loading of judges."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from core.errors import InvalidInput, NotInstalled
from core.extras import how_to_install
from scorer import judges
from scorer.judges.options import Options, parse


def test_unknown_key_lists_the_judges() -> None:
    with pytest.raises(InvalidInput) as caught:
        judges.load("gpt")
    assert "token-overlap" in caught.value.hint


def test_options_in_a_spec() -> None:
    options = parse("dtype=fp32&premise_cap=900&compat=yes&device=cuda:1", Options(batch_tokens=7))
    assert options == Options(device="cuda:1", dtype="fp32", batch_tokens=7, premise_cap=900, compat=True)


@pytest.mark.parametrize("query", ["colour=red", "premise_cap=-1", "premise_cap=", "compat=perhaps"])
def test_bad_options(query: str) -> None:
    with pytest.raises(InvalidInput):
        judges.load(f"token-overlap?{query}")


def test_missing_extra_names_the_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "scorer.judges.t5_nli", raising=False)
    with pytest.raises(NotInstalled) as caught:
        judges.load("t5:some/model")
    assert how_to_install("worker") in caught.value.hint


def test_the_registry_imports_nothing_heavy() -> None:
    heavy = "{'torch', 'transformers', 'onnxruntime', 'numpy'} & set(sys.modules)"
    code = f"import sys; from scorer import judges; judges.load('token-overlap'); print({heavy})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_every_judge_and_option_is_documented() -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "judges" / "index.md").read_text(encoding="utf-8")
    for name in (*judges.REGISTRY, *(f.name for f in fields(Options))):
        assert f"| `{name}" in text, name


@pytest.mark.parametrize(
    ("signature", "spec"),
    [
        ("judge:token-overlap@1|tmpl:aqa", "token-overlap"),
        ("judge:small@1+0123456789ab|tmpl:aqa", "small"),
        ("judge:a/b@0f|dtype:bf16|tmpl:aqa", "t5:a/b@0f?dtype=bf16"),
        ("judge:a/b@0f|dtype:fp32|tmpl:aqa|cap:900|decode:greedy", "t5:a/b@0f?dtype=fp32&premise_cap=900&compat=yes"),
        ("judge:a/b@0f|dtype:fp32|tmpl:aqa+nli", "nli:a/b@0f?dtype=fp32"),
        ("judge:a/b@0f|dtype:fp32|tmpl:aqa+minicheck", "minicheck:a/b@0f?dtype=fp32"),
    ],
)
def test_a_signature_leads_back_to_its_judge(signature: str, spec: str) -> None:
    assert judges.spec_of(signature) == spec
