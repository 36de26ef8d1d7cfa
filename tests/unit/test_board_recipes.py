"""Signatures taken apart: which numbers share a column, and how a judge is called without loading it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from leaderboard.recipes import columns_of, difference, judge_of, recipe_of, resampling
from scorer.judges.small import Small
from scorer.judges.token_overlap import TokenOverlap


def test_labels_alone_do_not_make_another_recipe() -> None:
    assert recipe_of("ais|bench:b@1|labels:aa|raters:5|v:1") == recipe_of("ais|bench:b@1|labels:bb|raters:5|v:1")
    assert recipe_of("em|bench:b@1|v:1") != recipe_of("em|bench:b@2|v:1")


def test_the_commonest_recipe_comes_first_and_the_newer_at_a_tie() -> None:
    assert columns_of({1: "a", 2: "b", 3: "b"}) == ["b", "a"]
    assert columns_of({1: "a", 2: "b"}) == ["b", "a"]
    assert columns_of({}) == []


def test_a_difference_names_both_sides() -> None:
    text = difference("em|judge:x@1|v:1", "em|judge:y@2|v:1")
    assert "judge:x@1 here" in text
    assert "judge:y@2 there" in text


@pytest.mark.parametrize(
    "signature, title, score_name",
    [
        ("judge:token-overlap@1|tmpl:aqa", TokenOverlap.title, TokenOverlap.score_name),
        ("autoais|bench:b|judge:small@1+abc|tmpl:aqa|thr:0.5", Small.title, Small.score_name),
        ("judge:released@aqa-ratings|model:x|tmpl:aqa", "T5-11B, released scores", "AutoAIS"),
        ("judge:google/t5_xxl_true_nli_mixture@abc|dtype:bf16|tmpl:aqa", "T5-11B, TRUE mixture", "AutoAIS"),
        ("judge:org/nli@abc|dtype:fp32|tmpl:aqa", "org/nli", "Entailment by org/nli"),
        ("judge:org/t5@abc|dtype:fp32|tmpl:aqa+minicheck", "MiniCheck org/t5", "MiniCheck support"),
    ],
)
def test_judges_by_their_own_names(signature: str, title: str, score_name: str) -> None:
    found = judge_of(signature)
    assert (found.title, found.score_name) == (title, score_name)


def test_a_number_without_a_judge_has_none() -> None:
    assert judge_of("em|bench:b@1|bs:9999|seed:1|v:1.0") is None


def test_naming_a_judge_loads_no_model() -> None:
    code = (
        "import sys; from leaderboard.recipes import judge_of; judge_of('judge:small@1|tmpl:aqa'); "
        "judge_of('judge:google/t5_xxl_true_nli_mixture@1'); judge_of('judge:released@1'); "
        "print([m for m in ('torch', 'onnxruntime') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_figures_beside_a_number_use_its_resamples() -> None:
    assert resampling("em|bench:b@1|bs:9999|seed:20221215|v:1.0") == (9999, 20221215)
