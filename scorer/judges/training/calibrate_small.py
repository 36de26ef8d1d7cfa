"""What calibration gains on human labels that the small judge did not learn from:
`python -m scorer.judges.training.calibrate_small --data DIR [--method platt]`.

The shipped small judge was fitted to `train.jsonl`, so its p there is no test of anything. Here each source's p comes
from a claim model of the same recipe, refitted without that source. Prints `aqa judge calibrate --json`'s report of
these p (`unseen`), and beside it that of the shipped weights on rows they learned from (`shipped`), as a warning.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

import numpy as np

from scorer.judges import small_encoder
from scorer.judges.calibrated.crossfit import Labelled
from scorer.judges.calibrated.maps import METHODS
from scorer.judges.calibrated.report import report
from scorer.judges.small_model import model
from scorer.judges.training.small_fit import Floats, Recipe, fit, predict
from scorer.judges.training.small_rows import Row, claim_rows
from scorer.judges.training.train_small import ENCODER, WEIGHTS, feature_matrix
from scorer.statistics.resamples import ResampleStore

RESAMPLES, SEED = 9_999, 20221215


def unseen(rows: list[Row], names: list[str], x: Floats) -> Floats:
    """p (n,) of the rows with a source, each by a model that saw no row of that source; NaN for all others."""
    said = json.loads(WEIGHTS.read_text("utf-8"))["cross_validation"]["claim"]["recipe"]
    recipe = Recipe(said["C"], said["trees_share"])
    y, weight = np.array([row.supported for row in rows]), np.array([row.weight for row in rows])
    sources = np.array([row.source for row in rows])
    p = np.full(len(rows), np.nan)
    for source in sorted(set(sources[sources != ""])):
        own = sources == source
        p[own] = predict(model(fit(names, x[~own], y[~own], weight[~own], recipe)), x[own])
    return p


def main() -> None:
    """Print the report as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the training files")
    parser.add_argument("--method", choices=list(METHODS), default="platt")
    parser.add_argument("--features", type=Path, help="keep the feature matrix here, and read it if there")
    chosen = parser.parse_args()
    rows = claim_rows(chosen.data)
    kept = chosen.features / "claim.npz" if chosen.features else None
    if kept and kept.is_file():
        saved = np.load(kept)
        names, x = saved["names"].tolist(), saved["x"]
    else:
        names, x = feature_matrix(rows, small_encoder.load("", ENCODER["sha256"]))
        if kept:
            np.savez(kept, names=names, x=x)
    shipped = model(json.loads(WEIGHTS.read_text("utf-8"))["models"]["claim"])
    known = [names.index(name) for name in shipped.names]
    told = {"unseen": unseen(rows, names, x), "shipped": predict(shipped, x[:, known])}
    human = [at for at, row in enumerate(rows) if row.source]
    lengths = [(len(rows[at].premise.split()), len(rows[at].answer.split())) for at in human]
    labels, groups = [float(rows[at].supported) for at in human], [rows[at].group for at in human]
    sources, store = [rows[at].source for at in human], ResampleStore()
    printed = {}
    for name, p in told.items():
        labelled = Labelled(p[human], np.array(labels), groups, np.array(lengths, dtype=np.float64))
        found = report(labelled, sources, chosen.method, store, RESAMPLES, SEED)
        printed[name] = {"signature": found.fit.signature, "lines": [asdict(line) for line in found.lines]}
    print(json.dumps(printed, indent=1))


if __name__ == "__main__":
    main()
