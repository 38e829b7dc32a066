"""Parameters that a protocol has not."""

from __future__ import annotations

import pytest

from harness.errors import HarnessError
from harness_metrics.dense.options import Options
from harness_metrics.dense.pair_scores import caption_metric, pair_scorer

METRIC = caption_metric("rouge")
SCORER = pair_scorer(METRIC)


def test_parameters_that_were_not_given_are_not_refused():
    options = Options("soda-c", METRIC, SCORER)
    options.refuse("tious", "seconds", "max_proposals", "annotators", "hypothesis")
    options.refuse_measures("precision", "recall", "f1", "map")


def test_a_given_one_is_named_with_its_value():
    options = Options("soda-c", METRIC, SCORER, measure="map", max_proposals=5)
    with pytest.raises(HarnessError, match="soda-c has no 'max_proposals'") as raised:
        options.refuse("tious", "max_proposals")
    assert (raised.value.parameter, raised.value.value) == ("max_proposals", 5)
    with pytest.raises(HarnessError, match="soda-c has no measure 'map'"):
        options.refuse_measures("f1", "map")
