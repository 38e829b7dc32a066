"""Contracts: data classes that flow through a run, and protocols that metrics, distances, embeddings, adapters and readers meet.

In: nothing of the engine. Out: the types that every other package and every plugin imports with
``from harness.contracts import ...``. A name is imported on first use, so that reading manifests does not import numpy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.contracts.bases import (
        CorpusMetric,
        MeanMetric,
        Parameterised,
        SumMetric,
        TextDistance,
        signature_with_parameters,
    )
    from harness.contracts.data import (
        Batch,
        Candidates,
        CaptionSet,
        Decoding,
        Example,
        Failure,
        Generation,
        Level,
        PositionedBatch,
        TaskView,
        TokenScores,
    )
    from harness.contracts.explanations import Explains, Explanation
    from harness.contracts.features import Distance, Embedding, Features
    from harness.contracts.judgments import JudgedCaption, JudgedItem, JudgedPair, Judgments
    from harness.contracts.metrics import (
        ChecksInstallation,
        Details,
        ForgetsTexts,
        HasTokenIntervals,
        Interval,
        LeftOut,
        Metric,
        MetricSpec,
        OnePassFit,
        OwnInterval,
        Permutes,
        ReadsMeta,
        State,
        TokenScoreMetric,
        Warms,
        merge_states,
    )
    from harness.contracts.models import (
        Adapter,
        CountsUsage,
        Describes,
        Listener,
        OpensMedia,
        Prepares,
        Reader,
        Scorer,
        Timed,
        needs_whole_task,
    )
    from harness.contracts.objects import (
        Objects,
        Statistics,
        example_scores,
        is_defined,
        join_statistics,
        place_statistics,
    )
    from harness.contracts.parameters import Parameters, PathLike, PathMark, PathParam, Values

__all__ = [
    "Adapter",
    "Batch",
    "Candidates",
    "CaptionSet",
    "ChecksInstallation",
    "CorpusMetric",
    "CountsUsage",
    "Decoding",
    "Describes",
    "Details",
    "Distance",
    "Embedding",
    "Example",
    "Explains",
    "Explanation",
    "Failure",
    "Features",
    "ForgetsTexts",
    "Generation",
    "HasTokenIntervals",
    "Interval",
    "JudgedCaption",
    "JudgedItem",
    "JudgedPair",
    "Judgments",
    "LeftOut",
    "Level",
    "Listener",
    "MeanMetric",
    "Metric",
    "MetricSpec",
    "Objects",
    "OnePassFit",
    "OpensMedia",
    "OwnInterval",
    "Parameterised",
    "Parameters",
    "PathLike",
    "PathMark",
    "PathParam",
    "Permutes",
    "PositionedBatch",
    "Prepares",
    "Reader",
    "ReadsMeta",
    "Scorer",
    "State",
    "Statistics",
    "SumMetric",
    "TaskView",
    "TextDistance",
    "Timed",
    "TokenScoreMetric",
    "TokenScores",
    "Values",
    "Warms",
    "example_scores",
    "is_defined",
    "join_statistics",
    "merge_states",
    "needs_whole_task",
    "place_statistics",
    "signature_with_parameters",
]

REMOVED = {
    "Additive": "derive the metric from SumMetric",
    "ExactTestable": "it is Permutes, with exact_p_values",
    "FitsInShards": "fit a shard with fit, and join two states with merge(first, second)",
    "HasColumnNames": "set MetricSpec.column_names",
    "HasDetails": "it is Details",
    "HasInterval": "it is OwnInterval",
    "HoldsFixed": "set MetricSpec.held_fixed; a distance or embedding has the attribute held_fixed",
    "Jackknifes": "it is OwnInterval, with left_out",
    "ListsParameters": "annotate the parameter as a Sequence",
    "Resamples": "it is HasTokenIntervals",
    "Testable": "it is Permutes",
    "Warmable": "it is Warms",
    "finish_fit": "fit a shard with fit, and join two states with merge_states",
    "merge_fits": "it is merge_states",
    "partial_fit": "fit a shard with fit, and join two states with merge_states",
}
"""Names of an earlier version, and what to do in place of them."""

_MODULES = ("parameters", "data", "features", "objects", "metrics", "models", "explanations", "judgments", "bases")
"""Modules of this package, in the order in which they import one another."""


def __getattr__(name: str) -> Any:
    """Import a name on first use, from the first module that has it."""
    if name in __all__:
        for module in _MODULES:
            values = vars(importlib.import_module(f"harness.contracts.{module}"))
            if name in values:
                globals()[name] = values[name]
                return values[name]
    if name in REMOVED:
        raise ImportError(f"harness.contracts has no '{name}' any more: {REMOVED[name]} (docs/plugins.md)")
    raise AttributeError(f"module 'harness.contracts' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
