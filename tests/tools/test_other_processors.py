"""Runs have the same results, to the last bit, as other processors compute them."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tools.other_processors import surroundings

# What adds in floating point, resamples, combines p-values and decomposes matrices: one
# metric of each kind.
FEW = (
    "[bleu, rouge, cider, self-cider, entropy, {production-variability: {distance: "
    "rouge}}, {trm: {distance: cider}},"
    "{mauve: {embedding: bow}}, {mauve-knn: {embedding: bow}}, {mmd: {embedding: "
    "bow}}, {frechet: {embedding: bow}}]"
)
MANY = (
    "[bleu, meteor, rouge, cider, cider-r, chrf, {pairwise: {distance: meteor}}, "
    "{best: {metric: meteor}}, cnd, corpus-bleu, cr,"
    "ms-jaccard, reverse-perplexity, {trm: {distance: [meteor, cider, rouge]}}, "
    "{precision-example: {distance: rouge}},"
    "{recall-example: {distance: rouge}},"
    "{coverage-example: {distance: rouge}}, {density-example: {distance: rouge}}, "
    "{production-variability: {distance: rouge}},"
    "{reference-coverage: {distance: rouge}}, {semantic-entropy: {distance: rouge}}, "
    "caption-length, compression-ratio, distinct, entropy,"
    "mbleu, novelty, nrr, pairwise-bleu, self-bleu, self-cider, vocabulary, chair-i, "
    "chair-s, fact-f1, fact-precision, fact-recall,"
    "object-recall]"
)
"""Metrics over strings that neither Java nor a model computes; TER, the slowest, adds
whole numbers as chrF does.
"""
OVER_COUNTS = (
    "mmd",
    "energy",
    "frechet",
    "sliced-wasserstein",
    "mauve",
    "mauve-example",
    "mauve-knn",
    "mauve-kde",
    "mmdagg",
    "c2st",
    "vendi",
    "corpus-mmd",
    "precision",
    "recall",
    "density",
    "coverage",
    "retrieval",
    "fense",
)
"""Metrics over counts of words; two more have the last digits of LAPACK
(docs/testing.md).
"""
COSINE = "{distance: {bert: {embedding: bow}}}"
COUNTED = ", ".join(
    [f"{{{name}: {{embedding: bow}}}}" for name in OVER_COUNTS]
    + [
        f"{{{name}: {COSINE}}}"
        for name in (
            "trm",
            "precision-example",
            "coverage-example",
            "production-variability",
            "semantic-entropy",
        )
    ]
)


def run(
    metrics: str, limit: int, variables: dict[str, str], *options: str
) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "harness",
        "run",
        "coco",
        "--set",
        f"metrics={metrics}",
        "--set",
        "views=[]",
        "--limit",
        str(limit),
    ]
    environment = {**os.environ, "HARNESS_DATA": "", **variables}
    return subprocess.run(
        [*command, *options],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def verify(
    metrics: str, limit: int, stored: str, variables: dict[str, str], *options: str
) -> None:
    result = run(metrics, limit, variables, "--verify", stored, *options)
    assert "identical: " in result.stdout, (
        variables,
        result.stdout[-2000:],
        result.stderr[-500:],
    )
    assert result.returncode == 0


def together() -> dict[str, str]:
    """Return the variables of the oldest processor:
    all of them that disable something, and threads of BLAS.
    """
    found = surroundings()
    merged = {
        name: value
        for variables in found.values()
        for name, value in variables.items()
        if name != "OPENBLAS_CORETYPE"
    }
    core = (
        {"OPENBLAS_CORETYPE": "Prescott"}
        if "OPENBLAS_CORETYPE=Prescott" in found
        else {}
    )
    return {**merged, **core, "OPENBLAS_NUM_THREADS": "4"}


@pytest.mark.slow
def test_results_are_those_of_an_old_processor_and_of_threads(tmp_path):
    stored = str(tmp_path / "run")
    assert run(FEW, 8, {}, "--output", stored).returncode == 0
    verify(FEW, 8, stored, together())
    verify(FEW, 8, stored, {"CAPTION_KERNELS_THREADS": "3"}, "--shard-size", "3")


@pytest.mark.slow
@pytest.mark.parametrize(
    "metrics", [MANY, f"[{COUNTED}]"], ids=["strings", "counts of words"]
)
def test_all_metrics_have_the_same_results_as_on_other_processors(metrics, tmp_path):
    stored = str(tmp_path / "run")
    assert run(metrics, 8, {}, "--output", stored).returncode == 0
    for variables in surroundings().values():
        verify(metrics, 8, stored, variables)
