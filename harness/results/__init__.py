"""Finished runs, to be read: the types through which decisions, pages, exports and
packages of others see what a run has found.

In: run directories, logs of other harnesses, runs in memory. Out: frozen types.

``Run.open("runs/coco")`` reads a run directory; nothing in it is changed or executed.

>>> import harness
>>> run = harness.evaluate("coco", models=["human"], metrics=["rouge"], limit=4)
>>> [(record.model, record.metric, record.n) for record in run.records]
[('human', 'rouge', 4)]
>>> (system,) = run.samples.systems
>>> len(system.examples), system.scores("rouge").shape
(4, (4,))
>>> run.samples.to_arrow().num_rows
4
"""

from harness.analysis.comparisons import Comparison, Comparisons
from harness.analysis.pairs import ComparedRun
from harness.run.finished import Run, by_kind, merge_runs
from harness.run.text_scores import MetricResult, Scores
from harness.rundir.format import run_folders
from harness.rundir.provenance import MetricEntry, ModelEntry, Provenance
from harness.rundir.records import (
    ResultRecord,
    decoding_text,
    lookup,
    text_of_fields,
)
from harness.rundir.samples import P_PREFIX, SampleTable, System
from harness.rundir.slices import slice_masks

__all__ = [
    "P_PREFIX",
    "ComparedRun",
    "Comparison",
    "Comparisons",
    "MetricEntry",
    "MetricResult",
    "ModelEntry",
    "Provenance",
    "ResultRecord",
    "Run",
    "SampleTable",
    "Scores",
    "System",
    "by_kind",
    "decoding_text",
    "lookup",
    "merge_runs",
    "run_folders",
    "slice_masks",
    "text_of_fields",
]
