"""Write values.json: agreement of two metrics with people and tests between them, as
mt-metrics-eval computes them.

    PYTHONPATH=MT_METRICS_EVAL python make_values.py values.json

MT_METRICS_EVAL is a checkout of google-research/mt-metrics-eval at 68a481a (its needs:
numpy, scipy, absl-py).
"""

import json
import sys

import numpy as np
import scipy.stats
from mt_metrics_eval import stats

SYSTEMS = 7
SEGMENTS = 30
PERMUTATIONS = 10_000


def draw_scores() -> dict[str, list[float]]:
    """Return scores of people (whole numbers, as MQM),
    a continuous metric and one with ties, system by system.
    """
    rng = np.random.default_rng(7)
    quality = (
        rng.normal(size=(SYSTEMS, 1)) / 2
        + rng.normal(size=(1, SEGMENTS))
        + rng.normal(size=(SYSTEMS, SEGMENTS))
    )
    people = np.round(0.7 * (quality + rng.normal(size=quality.shape)))
    fine = np.round(quality + 0.9 * rng.normal(size=quality.shape), 4)
    coarse = np.round(quality + 1.8 * rng.normal(size=quality.shape))
    return {
        name: values.ravel().tolist()
        for name, values in (("people", people), ("fine", fine), ("coarse", coarse))
    }


def main() -> None:
    """Compute and write the values."""
    scores = draw_scores()
    of_metric = {
        name: stats.Correlation(SYSTEMS, scores["people"], scores[name])
        for name in ("fine", "coarse")
    }
    values = {}
    for name, correlation in of_metric.items():
        values[name] = {
            grouping: {
                "pearson": correlation.Pearson(by)[0],
                "spearman": correlation.Spearman(by)[0],
                "kendall_b": correlation.Kendall(by)[0],
                "kendall_c": correlation.Kendall(by, "c")[0],
            }
            for grouping, by in (("none", "none"), ("item", "item"), ("system", "sys"))
        }
        accuracy, epsilon, _ = stats.KendallWithTiesOpt(
            scores["people"], scores[name], "acc23", SYSTEMS, "item", sample_rate=1.0
        )
        values[name]["accuracy_by_item"], values[name]["epsilon"] = accuracy, epsilon
        soft = stats.PairwiseConfidenceError(
            scores["people"], scores[name], SYSTEMS, 10 * PERMUTATIONS
        )
        values[name]["soft_pairwise_accuracy"] = float(soft[0])
    np.random.seed(0)
    whole = stats.PermutationSigDiffParams(block_size=PERMUTATIONS)
    pair = of_metric["coarse"], of_metric["fine"]
    functions = {"pearson": scipy.stats.pearsonr, "kendall_b": scipy.stats.kendalltau}
    tests = {
        name: stats.PermutationSigDiff(*pair, function, k=PERMUTATIONS, params=whole)[0]
        for name, function in functions.items()
    }
    williams = float(
        stats.WilliamsSigDiff(*pair, scipy.stats.pearsonr, one_sided=False)[0]
    )
    content = {
        "systems": SYSTEMS,
        "scores": scores,
        "values": values,
        "one_sided_p_of_perm_both": tests,
        "williams": williams,
    }
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(content, file, indent=1)


if __name__ == "__main__":
    main()
