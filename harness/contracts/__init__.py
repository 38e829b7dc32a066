"""Contracts: data classes that flow through a run, and protocols that metrics, distances, embeddings, adapters and readers meet.

In: nothing of the engine. Out: the types that every other package and every plugin imports with
``from harness.contracts import ...``.
"""

from harness.contracts.bases import (
    MeanMetric,
    Parameterised,
    PathLike,
    PathMark,
    PathParam,
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
from harness.contracts.features import Features
from harness.contracts.metrics import (
    Distance,
    Embedding,
    ExactTestable,
    HasColumnNames,
    HasDetails,
    ListsParameters,
    Metric,
    MetricSpec,
    Resamples,
    State,
    Testable,
    TokenScoreMetric,
    Warmable,
)
from harness.contracts.models import Adapter, Describes, Listener, Prepares, Reader, Scorer

__all__ = [
    "Adapter",
    "Batch",
    "Candidates",
    "CaptionSet",
    "Decoding",
    "Describes",
    "Distance",
    "Embedding",
    "ExactTestable",
    "Example",
    "Failure",
    "Features",
    "Generation",
    "HasColumnNames",
    "HasDetails",
    "Level",
    "Listener",
    "ListsParameters",
    "MeanMetric",
    "Metric",
    "MetricSpec",
    "Parameterised",
    "PathLike",
    "PathMark",
    "PathParam",
    "PositionedBatch",
    "Prepares",
    "Reader",
    "Resamples",
    "Scorer",
    "State",
    "TaskView",
    "Testable",
    "TextDistance",
    "TokenScoreMetric",
    "TokenScores",
    "Warmable",
    "signature_with_parameters",
]
