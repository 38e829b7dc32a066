"""Captions of a publication, scored again by the tasks of their sets:
the published numbers hold.
"""

from __future__ import annotations

import pytest

import harness
from harness.spec.published import PublishedTable

LARGEST = {
    "bleu1": 0.0015,
    "bleu2": 0.0015,
    "bleu3": 0.001,
    "bleu4": 0.001,
    "meteor": 0.0005,
    "rouge": 0.0005,
    "cider": 0.0015,
}
"""Metric -> largest difference: the tokens of the publication's references are not
known.
"""


@pytest.mark.slow
@pytest.mark.large_sets(
    "flickr8k/references_test.jsonl.gz", "flickr30k_test/references.jsonl.gz"
)
@pytest.mark.parametrize("task", ["flickr8k", "flickr30k"])
def test_four_captioners_have_the_published_scores(task, shared, monkeypatch):
    monkeypatch.setenv("HARNESS_DATA", str(shared / "data"))
    run = harness.evaluate(task, overrides=["bootstrap.samples=0"])
    (table,) = [
        view.reference
        for view in run.provenance.views
        if isinstance(view.reference, PublishedTable)
    ]
    ours = {(record.model, record.metric): record.value for record in run.records}
    compared = [
        (ours[row.label, metric], value, metric)
        for row in table.rows
        if row.label is not None
        for metric, value in row.values.items()
    ]
    assert len(compared) == 28
    for value, published, metric in compared:
        assert value == pytest.approx(published, abs=LARGEST[metric]), metric
