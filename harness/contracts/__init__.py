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
    from harness.contracts.features import Features
    from harness.contracts.judgments import JudgedCaption, JudgedItem, JudgedPair, Judgments
    from harness.contracts.metrics import (
        Additive,
        ChecksInstallation,
        Distance,
        Embedding,
        ExactTestable,
        FitsInShards,
        ForgetsTexts,
        HasColumnNames,
        HasDetails,
        HasInterval,
        HasTokenIntervals,
        HoldsFixed,
        Interval,
        Jackknifes,
        LeftOut,
        ListsParameters,
        Metric,
        MetricSpec,
        OnePassFit,
        ReadsMeta,
        Resamples,
        State,
        Testable,
        TokenScoreMetric,
        Warmable,
        finish_fit,
        merge_fits,
        partial_fit,
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
    from harness.contracts.objects import Objects, Statistics, is_defined, join_statistics, place_statistics
    from harness.contracts.parameters import Parameters, PathLike, PathMark, PathParam, Values

__all__ = [
    "Adapter",
    "Additive",
    "Batch",
    "Candidates",
    "CaptionSet",
    "ChecksInstallation",
    "CorpusMetric",
    "CountsUsage",
    "Decoding",
    "Describes",
    "Distance",
    "Embedding",
    "ExactTestable",
    "Example",
    "Explains",
    "Explanation",
    "Failure",
    "Features",
    "FitsInShards",
    "ForgetsTexts",
    "Generation",
    "HasColumnNames",
    "HasDetails",
    "HasInterval",
    "HasTokenIntervals",
    "HoldsFixed",
    "Interval",
    "Jackknifes",
    "JudgedCaption",
    "JudgedItem",
    "JudgedPair",
    "Judgments",
    "LeftOut",
    "Level",
    "Listener",
    "ListsParameters",
    "MeanMetric",
    "Metric",
    "MetricSpec",
    "Objects",
    "OnePassFit",
    "OpensMedia",
    "Parameterised",
    "Parameters",
    "PathLike",
    "PathMark",
    "PathParam",
    "PositionedBatch",
    "Prepares",
    "Reader",
    "ReadsMeta",
    "Resamples",
    "Scorer",
    "State",
    "Statistics",
    "TaskView",
    "Testable",
    "TextDistance",
    "Timed",
    "TokenScoreMetric",
    "TokenScores",
    "Values",
    "Warmable",
    "finish_fit",
    "is_defined",
    "join_statistics",
    "merge_fits",
    "needs_whole_task",
    "partial_fit",
    "place_statistics",
    "signature_with_parameters",
]

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
    raise AttributeError(f"module 'harness.contracts' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
