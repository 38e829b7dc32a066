"""Strata of systems: metrics are computed anew on each, corpus state included."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.analysis.strata import strata, stratify_by_metric
from harness.contracts import CaptionSet, MeanMetric, MetricSpec, TokenScores
from harness.errors import InputError
from harness.run.metric_plan import metric_plan
from harness_metrics.pregen.metric import Pregen


class Length(MeanMetric):
    """Words of the first candidate as a share of the longest reference of the data set it is fitted on."""

    spec = MetricSpec("length", True)

    def fit(self, references, features):
        return max(len(text.split()) for texts in references for text in texts)

    def scores(self, batch, features, state):
        return np.array([len(item.candidates[0].split()) / state for item in batch.sets])


def plan(metric):
    return metric_plan("pregen" if metric.spec.level == "model" else metric.spec.name, {}, metric)


SETS = [CaptionSet(str(i), ("a " * (5 - i),), ("b " * (i + 1),)) for i in range(5)]


def test_each_stratum_is_its_own_data_set():
    rows = stratify_by_metric(SETS, [plan(Length())], 2, plan(Length()))
    assert [(row["num_strata"], row["stratum"]) for row in rows] == [(1, 0), (2, 0), (2, 1)]
    # shortest captions first: examples 4, 3 | 2, 1 (0, the best, is left over); state is the stratum's longest reference
    assert [row["length"] for row in rows] == pytest.approx([3 / 5, 1.5 / 5, 3.5 / 3])


def test_pregen_takes_the_token_scores_of_the_stratum():
    scores = {item.id: [TokenScores(np.log([0.5]), np.array([int(item.id) % 2]))] for item in SETS}
    rows = stratify_by_metric(SETS, [plan(Pregen())], 2, plan(Length()), scores)
    assert [row["pregen(mean_max_normcount_prefix0)"] for row in rows] == pytest.approx([0.6, 0.5, 0.5])


def test_more_strata_than_examples():
    with pytest.raises(InputError, match="cannot make 6 strata of 5 examples"):
        stratify_by_metric(SETS, [plan(Length())], 6, plan(Length()))


def test_left_overs_are_the_best():
    assert strata([3, 1, 2, 5, 4], 2) == [[1, 2], [0, 4]]


@given(scores=st.lists(st.integers(-5, 5), max_size=30), k=st.integers(1, 8))
def test_strata_are_disjoint_equal_in_size_and_ascending(scores, k):
    groups = strata([float(score) for score in scores], k)
    assert [len(group) for group in groups] == [len(scores) // k] * k
    members = [item for group in groups for item in group]
    assert len(set(members)) == len(members)
    assert [scores[item] for item in members] == sorted(scores)[: len(members)]


def test_ties_keep_the_order_of_the_items():
    assert strata([1.0, 0.0, 1.0, 0.0], 2) == [[1, 3], [0, 2]]


def test_the_remaining_items_with_the_highest_scores_belong_to_no_stratum():
    assert strata([0.3, 0.1, 0.2, 0.9, 0.5], 2) == [[1, 2], [0, 4]]
    assert strata([0.1], 2) == [[], []]


@pytest.mark.parametrize("k", [0, -1, 1.5, True])
def test_the_number_of_strata_is_a_positive_integer(k):
    with pytest.raises(InputError, match="expected an integer of at least 1"):
        strata([0.1, 0.2], k)


def test_bad_scores_are_reported():
    with pytest.raises(InputError, match="item 1: a score is NaN"):
        strata([0.1, np.nan], 1)
    with pytest.raises(InputError, match=r"found an array of shape \(1, 2\)"):
        strata(np.array([[0.1, 0.2]]), 1)
