"""Strata of systems: metrics are computed anew on each, corpus state included."""

import numpy as np
import pytest

from harness.analysis.strata import stratify_by_metric
from harness.contracts import CaptionSet, MeanMetric, MetricSpec, TokenScores
from harness.errors import InputError
from harness.run.metric_plan import metric_plan
from harness.stats.strata import strata
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
