"""Points of a lattice have many equal distances, which rounding makes different."""

import json

import numpy as np
import pytest

from harness.stats import permutation
from harness_metrics.sets import corpus_neighbours, neighbours
from harness_metrics.sets.group_blocks import Sample
from harness_metrics.sets.neighbour_groups import without_groups


def loop(distances, labels, k, kind):
    """A statistic by the definition, text by text."""
    own = [np.flatnonzero(labels), np.flatnonzero(~labels)]
    candidates, references = own

    def radius(j, sample):
        return sorted(distances[x, j] for x in sample if x != j)[k - 1]

    balls = candidates if kind == "recall" else references
    others = references if kind == "recall" else candidates
    inside = np.array(
        [[distances[x, j] <= radius(j, balls) for j in balls] for x in others]
    )
    if kind == "coverage":
        return inside.any(axis=0).mean()
    return (
        inside.sum() / k / len(others)
        if kind == "density"
        else inside.any(axis=1).mean()
    )


@pytest.mark.parametrize("kind", neighbours.KINDS)
@pytest.mark.parametrize("k", [1, 2])
def test_every_relabeling_by_the_definition(kind, k):
    rng = np.random.default_rng(k)
    distances = rng.integers(0, 6, (3, 7, 7)).astype(float)  # many ties, not symmetric
    labels = permutation.relabelings(4, 3)
    expected = [
        [loop(matrix, label, k, kind) for label in labels] for matrix in distances
    ]
    np.testing.assert_allclose(
        neighbours.of_distances(distances, labels, k, kind), expected, atol=1e-12
    )


def test_values_of_prdc(golden):
    for case in json.loads((golden / "sets/vectors.json").read_text())["prdc"]:
        x, y = (
            np.array(case[side], dtype=np.float32)
            for side in ("candidates", "references")
        )
        both = np.concatenate([x, y]).astype(float)
        distances = np.linalg.norm(both[:, None] - both[None], axis=-1)[None]
        label = (np.arange(len(both)) < len(x))[None]
        for kind in neighbours.KINDS:
            if len(x if kind == "recall" else y) > case["k"]:
                value = neighbours.of_distances(
                    distances, label, case["k"], kind
                ).item()
                assert value == pytest.approx(case[kind], abs=1e-9)
            assert corpus_neighbours.of_corpora(x, y, case["k"], kind) == pytest.approx(
                case[kind], abs=1e-9
            ), kind


@pytest.mark.first_case_fast
@pytest.mark.parametrize("kind", neighbours.KINDS)
def test_corpora_with_repeated_vectors_and_several_blocks(kind, monkeypatch):
    rng = np.random.default_rng(3)
    x = rng.integers(-2, 3, (60, 3)).astype(np.float32)
    y = rng.integers(-2, 3, (140, 3)).astype(np.float32)
    both = np.concatenate([x, y])
    squared = ((both[:, None] - both[None]) ** 2).sum(axis=-1).astype(float)
    label = np.arange(200) < 60
    monkeypatch.setattr(corpus_neighbours, "_BLOCK_BYTES", 4 * 100 * 7)
    assert corpus_neighbours.of_corpora(x, y, 3, kind) == pytest.approx(
        loop(squared, label, 3, kind), abs=1e-12
    )


def lattice(count, dimensions, seed):
    return (
        np.random.default_rng(seed)
        .integers(0, 4, (count, dimensions))
        .astype(np.float64)
    )


@pytest.mark.parametrize("kind", neighbours.KINDS)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_rounding_errors_change_no_statistic_of_distances(kind, k):
    points = lattice(10, 3, seed=1)
    distances = np.sqrt(((points[:, None] - points) ** 2).sum(axis=2))[None]
    labels = permutation.relabelings(4, 6)
    expected = neighbours.of_distances(distances, labels, k, kind)
    credit = neighbours.coverage_credits(distances, 4, k)
    for seed in range(3):
        noisy = distances * (
            1 + 1e-9 * np.random.default_rng(seed).normal(size=distances.shape)
        )
        assert np.array_equal(neighbours.of_distances(noisy, labels, k, kind), expected)
        assert np.array_equal(neighbours.coverage_credits(noisy, 4, k), credit)


@pytest.mark.parametrize("kind", neighbours.KINDS)
@pytest.mark.parametrize("k", [1, 3])
def test_rounding_errors_change_no_statistic_of_corpora(kind, k):
    candidates = lattice(40, 3, seed=2)
    references = lattice(50, 3, seed=3)
    groups = [np.arange(len(side)) % 4 for side in (candidates, references)]
    expected = corpus_neighbours.of_corpora(candidates, references, k, kind)
    without = without_groups(
        Sample(candidates, groups[0]), Sample(references, groups[1]), k, kind, 4
    )
    axes = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    turned, others = (side @ axes * 0.3 for side in (candidates, references))
    assert corpus_neighbours.of_corpora(turned, others, k, kind) == expected
    found = without_groups(
        Sample(turned, groups[0]), Sample(others, groups[1]), k, kind, 4
    )
    assert found.tolist() == without.tolist()
