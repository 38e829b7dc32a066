"""Write ``estimates.json``: prediction-powered estimates by ppi-python 0.2.3 and
truescore 0.7.4.

python -m venv /tmp/oracles && /tmp/oracles/bin/pip install ppi-python==0.2.3
truescore==0.7.4 /tmp/oracles/bin/python tests/golden/estimates/make_estimates.py
"""

import json
from pathlib import Path

import numpy as np
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
from truescore.correct import gold_only_estimate, ppi_estimate

SIZE = 600
LABELS = 150


def main() -> None:
    """Draw invented scores and write the estimates of both packages."""
    rng = np.random.default_rng(20)
    quality = rng.normal(size=SIZE) + np.repeat(rng.normal(size=SIZE // 3), 3) / 2
    scores = np.round(3 + 0.6 * quality + rng.normal(scale=0.5, size=SIZE), 3)
    predictions = np.round(2 + 0.9 * quality + rng.normal(scale=0.6, size=SIZE), 3)
    probabilities = np.round(
        np.clip(0.25 * np.exp(0.4 * rng.normal(size=SIZE)), 0.05, 1), 3
    )
    clusters = np.arange(SIZE) // 3
    whole = np.sort(rng.permutation(SIZE // 3)[: LABELS // 3])
    rows = np.flatnonzero(np.isin(clusters, whole))
    unlabelled = np.setdiff1d(np.arange(SIZE), rows)
    y = scores[rows]
    f = predictions[rows]
    rest = predictions[unlabelled]
    values = {}
    tuned = ppi_estimate(predictions, y, rows)
    for name, tuning in (("zero", 0.0), ("one", 1.0), ("tuned", tuned.lambda_)):
        theirs = ppi_estimate(predictions, y, rows, lambda_=tuning)
        ends = np.ravel(ppi_mean_ci(y, f, rest, alpha=0.05, lam=tuning)).tolist()
        value = float(np.squeeze(ppi_mean_pointestimate(y, f, rest, lam=tuning)))
        values[name] = {
            "lambda": tuning,
            "value": value,
            "ci95": ends,
            "truescore": {
                "value": theirs.point,
                "standard_error": theirs.standard_error,
            },
        }
    values["tuned"]["by_package"] = float(
        np.squeeze(ppi_mean_pointestimate(y, f, rest))
    )
    weighted = ppi_mean_pointestimate(
        y, f, predictions, lam=1.0, w=1 / probabilities[rows]
    )
    alone = gold_only_estimate(y)
    clustered = gold_only_estimate(y, clusters=clusters[rows])
    powered = ppi_estimate(predictions, y, rows, clusters=clusters)
    content = {
        "scores": scores.tolist(),
        "predictions": predictions.tolist(),
        "probabilities": probabilities.tolist(),
        "labelled": rows.tolist(),
        "estimates": values,
        "weighted": float(np.squeeze(weighted)),
        "labels_alone": [alone.low, alone.high],
        "labels_alone_clustered": [clustered.low, clustered.high],
        "clustered": {
            "lambda": powered.lambda_,
            "value": powered.point,
            "standard_error": powered.standard_error,
        },
    }
    Path(__file__).with_name("estimates.json").write_text(json.dumps(content) + "\n")


main()
