"""Contracts: data classes that flow through a run, and protocols that metrics,
distances, embeddings, adapters and readers meet.

In: nothing of the engine. Out: the types that every other package and every plugin
imports with ``from harness.contracts import ...``. A name is imported on first use, so
that reading manifests does not import numpy.
"""

# Type checkers read the modules; a program imports from them by name, on first use.
# ruff: noqa: F403

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.contracts.bases import *
    from harness.contracts.data import *
    from harness.contracts.event_matches import *
    from harness.contracts.events import *
    from harness.contracts.features import *
    from harness.contracts.metrics import *
    from harness.contracts.models import *
    from harness.contracts.objects import *
    from harness.contracts.parameters import *
    from harness.contracts.reading import *
    from harness.contracts.sums import *
    from harness.contracts.token_metrics import *
    from harness.contracts.verb_result import *

_NAMES = {
    "bases": (
        "CorpusMetric MeanMetric Parameterised SumMetric TextDistance fitted_fields "
        "has_corpus_state signature_with_parameters"
    ),
    "data": (
        "Batch Candidates CaptionSet Decoding Example Failure Generation "
        "JudgedCaption JudgedItem JudgedPair Judgments Level PositionedBatch TaskView "
        "TokenScores"
    ),
    "event_matches": "EventMatch MatchedEvents MatchesEvents ScoresThresholds",
    "events": "GEOMETRIES Event EventSet Geometry is_event_set",
    "features": "Distance Embedding EncodesSets Features LimitsTexts",
    "metrics": (
        "ChecksInstallation Cost CreditsCandidates DeclaresCost Details Explains "
        "Explanation Fetches ForgetsTexts HasConstants Interval LeftOut Metric "
        "MetricSpec OnePassFit OwnInterval Permutes ScoresCandidates State Warms "
        "cost_of merge_states"
    ),
    "models": (
        "Adapter CountsUsage Describes GeneratesUnordered Listener OpensMedia "
        "Prepares Reader Scorer StoreResult Timed find_refusal needs_whole_task"
    ),
    "objects": (
        "Objects Statistics example_scores is_defined join_statistics place_statistics"
    ),
    "parameters": (
        "CodePath KeyVariable Parameters PathLike PathMark PathParam RunsCode Values "
        "WholeMark"
    ),
    "reading": "EVENTS Events ListsIds Reading Role ShowsReadings",
    "sums": "SplitColumns weighted_means weighted_sums",
    "token_metrics": "HasTokenIntervals ReadsMeta TokenScoreMetric",
    "verb_result": "VerbResult WrittenFiles arrow_table",
}
"""Names of each module."""
_MODULE_OF = {
    name: module for module, names in _NAMES.items() for name in names.split()
}
__all__ = sorted(_MODULE_OF)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    """Import a name on first use."""
    if name in _MODULE_OF:
        module = importlib.import_module(f"harness.contracts.{_MODULE_OF[name]}")
        value = getattr(module, name)
        globals()[name] = value  # the next look-up does not come here
        return value
    raise AttributeError(f"module 'harness.contracts' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
