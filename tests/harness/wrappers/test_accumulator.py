"""Examples as texts and back: nothing of them changes, mistakes are one line."""

from __future__ import annotations

import numpy as np
import pytest

import harness
from harness.errors import HarnessError, InputError, UnknownName
from harness.run.text_scores import MetricResult
from harness.testing.metric_subject import token_scores
from harness.testing.sample_captions import caption_sets
from harness.wrappers.accumulator import WrappedMetric

SETS = caption_sets()
CANDIDATES = [s.candidates for s in SETS]
REFERENCES = [s.references for s in SETS]


def test_the_number_is_that_of_the_python_api():
    wrapped = WrappedMetric.create("cider", {})
    result = wrapped.result(wrapped.caption_rows(CANDIDATES, REFERENCES))
    expected = harness.metric("cider")(CANDIDATES, REFERENCES)
    assert isinstance(result, MetricResult)
    assert result.value == expected.value and np.array_equal(
        result.per_example, expected.per_example
    )


def test_rows_of_parts_are_the_rows_of_the_whole():
    wrapped = WrappedMetric.create("bleu", {})
    fields = {
        "media": ["a.png", None, *"cdef"],
        "sources": [*"uvwxyz"],
        "meta": [{"k": 1}, None, {"ä": [1.5]}, None, None, None],
    }
    whole = wrapped.caption_rows(CANDIDATES, REFERENCES, **fields)
    parts = [
        wrapped.caption_rows(
            CANDIDATES[i : i + 2],
            REFERENCES[i : i + 2],
            **{k: v[i : i + 2] for k, v in fields.items()},
        )
        for i in (0, 2, 4)
    ]
    assert [row for part in parts for row in part] == whole
    assert wrapped.caption_rows([], []) == []


def test_single_texts_are_lists_of_one():
    wrapped = WrappedMetric.create("bleu", {})
    assert wrapped.caption_rows(["a"], ["b"]) == wrapped.caption_rows([["a"]], [["b"]])


def test_token_scores_keep_their_digits():
    wrapped = WrappedMetric.create("pregen", {})
    scores = token_scores()
    assert wrapped.result(
        wrapped.token_rows(scores)
    ) == wrapped.plan.metric.evaluate_scores(scores)  # type: ignore[union-attr]
    (label,) = wrapped.values(wrapped.token_rows(scores))
    assert label.startswith("pregen(")


def test_metrics_by_text_mapping_and_instance():
    by_text = WrappedMetric.create("trm:distance=rouge", {})
    assert (
        by_text.label
        == WrappedMetric.create({"trm": {"distance": "rouge"}}, {}).label
        == "trm(rouge)"
    )
    assert WrappedMetric.create("trm", {"distance": "rouge"}).label == "trm(rouge)"
    instance = by_text.plan.metric
    assert WrappedMetric.create(instance, {}).plan.metric is instance
    assert by_text.higher_is_better is False or by_text.higher_is_better is True


def test_mistakes_are_one_line():
    cider = WrappedMetric.create("cider", {})
    with pytest.raises(UnknownName, match="did you mean 'cider'"):
        WrappedMetric.create("cidr", {})
    with pytest.raises(
        HarnessError, match="metric 'cider' has no parameter|unknown parameter"
    ):
        WrappedMetric.create("cider", {"nothing": 1})
    with pytest.raises(HarnessError, match="2 metrics; expected one"):
        WrappedMetric.create("cider,bleu", {})
    with pytest.raises(
        HarnessError,
        match="parameters go with the bare name of a metric; "
        "found 'trm:distance=rouge'",
    ):
        WrappedMetric.create("trm:distance=rouge", {"pooling": "per-direction"})
    with pytest.raises(
        InputError, match="2 examples have candidates but 1 have references"
    ):
        cider.caption_rows(["a", "b"], ["c"])
    with pytest.raises(InputError, match="candidates: example 1: the list is empty"):
        cider.caption_rows(["a", []], ["c", "d"])
    with pytest.raises(
        InputError,
        match="expected one text or list of texts per example; found 'a dog'",
    ):
        cider.caption_rows("a dog", ["c"])
    with pytest.raises(InputError, match="1 values of 'media' for 2 examples"):
        cider.caption_rows(["a", "b"], ["c", "d"], media=["x"])
    with pytest.raises(
        InputError, match="the metadata of an example cannot be stored as JSON"
    ):
        cider.caption_rows(["a"], ["c"], meta=[{"x": object()}])
    with pytest.raises(
        HarnessError, match="metric 'cider' takes captions and references"
    ):
        cider.token_rows(token_scores())
    with pytest.raises(HarnessError, match="takes token scores of references"):
        WrappedMetric.create("pregen", {}).caption_rows(["a"], ["b"])
    with pytest.raises(
        InputError, match="metric 'cider' has no examples: call update before compute"
    ):
        cider.result([])
