"""Scores of shards: the same digits in any division,
memory that does not suffice, metrics that fail.
"""

from __future__ import annotations

import weakref

import numpy as np
import pytest

from harness.contracts import CaptionSet, MeanMetric, MetricSpec
from harness.errors import HarnessError
from harness.run import score as scoring
from harness.run.features import FeatureCache
from harness.run.metric_plan import MetricPlan
from harness.run.shard_scores import Job, Request, ShardScorer, halve_batches
from harness.spec.models import SignificanceSpec

SETS = [
    CaptionSet(f"e{k}", (f"a dog {k}", "a cat"), ("the dog runs", f"dog {k}"))
    for k in range(9)
]
EXACT = SignificanceSpec.model_validate({"method": "exact"})


class Words(MeanMetric):
    """Number of words; raises for batches of more than ``most`` examples."""

    def __init__(self, most: int = 100, error: type[Exception] = MemoryError) -> None:
        self.most = most
        self.error = error
        self.spec = MetricSpec("words", True)

    def scores(self, batch, features, state):
        if len(batch) > self.most:
            raise self.error("too large")
        words = features.per_text(
            "words", batch.candidate_ids, lambda texts: [len(t.split()) for t in texts]
        )
        return np.asarray(words, dtype=float).reshape(len(batch), batch.n).mean(axis=1)


def scorer(metric) -> ShardScorer:
    return ShardScorer(
        [MetricPlan("words", "words", {}, metric)],
        FeatureCache(),
        EXACT,
        0,
        ["x", "x", "x", "m"],
    )


def job(sets, index=0, candidates=None) -> Job:
    return Job(index, [sets], [Request(0, 3, candidates, None, ((0, 9),))])


@pytest.mark.equal_bits
def test_any_division_gives_the_same_rows():
    whole = scorer(Words()).score(job(SETS)).scored[3, 0]
    for size in (1, 2, 4):
        worker = scorer(Words())
        parts = [
            worker.score(job(SETS[k : k + size], k)).scored[3, 0]
            for k in range(0, 9, size)
        ]
        assert np.array_equal(np.concatenate([p.stats for p in parts]), whole.stats)
        assert np.array_equal(
            np.concatenate([p.p_values for p in parts]), whole.p_values
        )


def test_a_shard_forgets_the_texts_of_the_one_before():
    worker = scorer(Words())
    worker.score(job(SETS[:5]))
    worker.score(job(SETS[5:6], 1))
    assert len(worker.features.texts) == 4


@pytest.mark.parametrize(("indices", "texts"), [((0, 0), 12), ((1, 0), 4), ((0, 1), 4)])
def test_texts_are_kept_for_further_jobs_of_their_shard_alone(indices, texts):
    worker = scorer(Words())
    worker.score(job(SETS[:4], indices[0]))
    worker.score(job(SETS[4:5], indices[1]))
    assert len(worker.features.texts) == texts


def test_the_texts_of_the_whole_task_are_kept_for_the_first_shard():
    worker = scorer(Words())
    worker.features.intern(["a text of the task"])
    worker.score(job(SETS[:1], 3))
    assert "a text of the task" in worker.features.texts


def test_every_system_has_the_scores_of_its_own_captions():
    units = [
        [CaptionSet("e", ("a dog",), ("a dog",))],
        [CaptionSet("e", ("a dog runs",), ("a dog",))],
        [CaptionSet("e", ("a",), ("a",))],
    ]
    steps: list[int] = []
    scored = (
        scorer(Words())
        .score(
            Job(0, units, [Request(k, k, None, None, ((0, 1),)) for k in (1, 0, 2)]),
            steps.append,
        )
        .scored
    )
    assert {system: item.stats[0, 0] for (system, _), item in scored.items()} == {
        0: 2.0,
        1: 3.0,
        2: 1.0,
    }
    assert sum(steps) == 3


def test_candidates_are_cut():
    scored = scorer(Words()).score(job(SETS, candidates=1)).scored[3, 0]
    assert scored.stats[:, 0].tolist() == [3.0] * 9


@pytest.mark.equal_bits
@pytest.mark.parametrize("most", [1, 2, 4])
def test_a_batch_that_does_not_fit_into_memory_is_divided(most):
    whole = scorer(Words()).score(job(SETS)).scored[3, 0]
    divided = scorer(Words(most)).score(job(SETS)).scored[3, 0]
    assert np.array_equal(divided.stats, whole.stats)
    assert np.array_equal(divided.p_values, whole.p_values)


class Kept(Words):
    """Keeps an array of each batch, and notes the lengths of those that are still
    there.
    """

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self.arrays: list[weakref.ref[np.ndarray]] = []
        self.lengths: list[int] = []

    def scores(self, batch, features, state):
        array = features.per_batch(
            "kept", batch, lambda whole: np.zeros((len(whole), 4, 4))
        )
        self.arrays.append(weakref.ref(array))
        self.lengths = [
            len(there)
            for reference in self.arrays
            if (there := reference()) is not None
        ]
        del array
        return super().scores(batch, features, state)


def test_arrays_of_a_batch_that_did_not_fit_are_dropped():
    metric = Kept(2)
    scorer(metric).score(job(SETS))
    assert len(metric.arrays) > 3 and max(metric.lengths) <= 2


def test_an_example_that_does_not_fit_is_named():
    with pytest.raises(
        HarnessError,
        match=r"metric 'words' on model 'm' needs more memory than there is for one "
        r"example, such as 'e\d'",
    ):
        scorer(Words(0)).score(job(SETS))


def test_a_plugin_that_fails_is_named():
    with pytest.raises(
        HarnessError, match="metric 'words' failed on model 'm': ValueError: too large"
    ):
        scorer(Words(0, ValueError)).score(job(SETS))


def test_halves_hold_the_same_examples_in_their_places():
    sets = [CaptionSet(str(k), ("a",) * (1 + k % 2), ("b",)) for k in range(7)]
    features = FeatureCache()
    parts: list = scoring.batches(sets, features)
    while True:
        places = np.concatenate([positions for positions, _ in parts])
        assert sorted(places.tolist()) == list(range(7))
        assert all(
            sets[p] == item
            for positions, batch in parts
            for p, item in zip(positions, batch.sets)
        )
        smaller = halve_batches(parts, features)
        if smaller is None:
            break
        assert max(len(b) for _, b in smaller) < max(len(b) for _, b in parts)
        parts = smaller
    assert all(len(batch) == 1 for _, batch in parts)
