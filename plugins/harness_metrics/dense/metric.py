"""Metric ``dense``: captions of events by the protocols of the field, and by one that
is recommended.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from harness.contracts import (
    Batch,
    CorpusMetric,
    Cost,
    EventMatch,
    Features,
    MatchedEvents,
    Metric,
    MetricSpec,
    Objects,
    Parameterised,
    State,
    SumMetric,
)
from harness.contracts.parameters import Count, Share, check_arguments
from harness.errors import UnknownName
from harness_metrics.dense.activitynet import RULES, ActivityNetProtocol
from harness_metrics.dense.grounding import GroundingProtocol
from harness_metrics.dense.matched import MatchedProtocol
from harness_metrics.dense.object_precision import ObjectPrecisionProtocol
from harness_metrics.dense.objects import ObjectBenchmarkProtocol, ObjectProtocol
from harness_metrics.dense.options import Annotators, Hypothesis, Measure, Options
from harness_metrics.dense.pair_scores import caption_metric, pair_scorer
from harness_metrics.dense.paragraph import ParagraphProtocol
from harness_metrics.dense.protocol import (
    FittedProtocol,
    VideoProtocol,
    addends_of_mean,
)
from harness_metrics.dense.regions import RegionProtocol
from harness_metrics.dense.soda import SodaProtocol
from harness_metrics.dense.videos import Side, read_sides, read_videos

WORDS_OF_EVENT = 12.0
"""Words of an event with its place, for estimates of cost."""
REFERENCE_EVENTS = 20.0
"""Events of an annotator, for the same."""
RECOMMENDED = "matched"
"""Protocol without a parameter."""
CorpusProtocol = RegionProtocol | ObjectPrecisionProtocol
"""Protocols that sort the predictions of all examples."""
PROTOCOLS: Mapping[str, Callable[[Options], VideoProtocol | CorpusProtocol]] = {
    RECOMMENDED: MatchedProtocol,
    **dict.fromkeys(RULES, ActivityNetProtocol),
    **{f"soda-{variant}": SodaProtocol for variant in "abcd"},
    "paragraph": ParagraphProtocol,
    "grounding": GroundingProtocol,
    "vote2cap": ObjectProtocol,
    "scan2cap": ObjectProtocol,
    "scan2cap-benchmark": ObjectBenchmarkProtocol,
    "densecap": RegionProtocol,
}
"""Protocols by name."""
WITH_HYPOTHESIS = ("soda-a", "soda-b", "soda-c")
"""Protocols of the parameter ``hypothesis``; ``soda-d`` compares no texts."""
OF_MEASURE: Mapping[tuple[str, str], Callable[[Options], CorpusProtocol]] = {
    ("scan2cap-benchmark", "map"): ObjectPrecisionProtocol
}
"""The same for a measure with another form of number."""


def protocol_factory(
    protocol: str, measure: str
) -> Callable[[Options], VideoProtocol | CorpusProtocol] | None:
    """Return the class of a protocol; None for an unknown one."""
    return OF_MEASURE.get((protocol, measure)) or PROTOCOLS.get(protocol)


class Dense(Parameterised):
    """Captions of events, each with its time or box, by a protocol; higher is better.

    Parameters
    ----------
    protocol : str
        ``matched`` (recommended), or one of the field: ``activitynet-2017``, ``-2018``,
        ``-2019``, ``vidchapters``, ``vid2seq``, ``soccernet``, ``soda-a`` to
        ``soda-d``, ``paragraph``, ``grounding``, ``vote2cap``, ``scan2cap``,
        ``scan2cap-benchmark``, ``densecap``; docs/dense.md has their rules.
    text : str, mapping or Metric
        Caption metric, METEOR by default; of ``densecap`` that of single captions.
    measure : {"score", "precision", "recall", "f1", "map"}
        The score of the captions, or localisation; of SODA and ``matched`` the parts
        of the score, whose ``score`` is F1; ``map`` of ``scan2cap-benchmark`` is its
        mean average precision.
    tious : list of float, optional
        Thresholds of the overlap in place of those of the protocol.
    seconds : list of float, optional
        Localisation by the distance of the starts, below so many seconds.
    max_proposals : int, optional
        The first predictions of a video that count.
    annotators : {"merged", "best", "mean"}, optional
        Treatment of several annotators by SODA and ``matched``.
    overlap : str, optional
        Registered overlap of ``matched`` in place of that of the places: ``tiou``,
        ``iou``, ``iou3d``, ``iou3d-hull``, or one of a plug-in.
    hypothesis : {"prediction", "reference"}, optional
        Hypothesis of the caption metric in SODA: the prediction, or the reference, as
        in the numbers of SODA's program.

    Raises
    ------
    HarnessError
        For an unknown protocol, a parameter that the protocol has not, and a caption
        metric that it cannot use.
    """

    spec: MetricSpec

    def __new__(cls, *arguments: Any, **parameters: Any) -> Self:
        """Return an instance of the class whose number has the protocol's form."""
        protocol = parameters.get("protocol", RECOMMENDED)
        kind: Any = cls
        if cls is Dense:
            factory = protocol_factory(protocol, parameters.get("measure", "score"))
            kind = DenseScore
            if factory in (RegionProtocol, ObjectPrecisionProtocol):
                kind = DenseAveragePrecision
            elif isinstance(factory, type) and issubclass(factory, FittedProtocol):
                kind = FittedDenseScore
            elif factory is MatchedProtocol:
                kind = MatchedDenseScore
            elif factory is ActivityNetProtocol and _is_mean_over_overlaps(parameters):
                kind = ThresholdDenseScore
        return object.__new__(kind)

    @check_arguments
    def __init__(
        self,
        *,
        protocol: str = RECOMMENDED,
        text: str | Mapping[str, Any] | Metric = "meteor",
        measure: Measure = "score",
        tious: Sequence[Share] | None = None,
        seconds: Sequence[float] | None = None,
        max_proposals: Count | None = None,
        annotators: Annotators | None = None,
        overlap: str | None = None,
        hypothesis: Hypothesis | None = None,
    ) -> None:
        if protocol not in PROTOCOLS:
            raise UnknownName.of_name(
                "dense: unknown protocol",
                protocol,
                list(PROTOCOLS),
                "expected",
                parameter="protocol",
            )
        inner = caption_metric(text)
        options = Options(
            protocol,
            inner,
            pair_scorer(inner),
            measure,
            tuple(tious) if tious else None,
            tuple(seconds) if seconds else None,
            max_proposals,
            annotators,
            overlap,
            hypothesis,
        )
        if protocol != RECOMMENDED:
            options.refuse("overlap")
        if protocol not in WITH_HYPOTHESIS:
            options.refuse("hypothesis")
        if (protocol, measure) not in OF_MEASURE:
            options.refuse_measures("map")
        self.options = options
        factory: Any = protocol_factory(protocol, measure)
        self.protocol: Any = factory(options)
        what = inner.spec.name if measure == "score" else measure
        is_precision = isinstance(self.protocol, CorpusProtocol)
        is_fitted = isinstance(self.protocol, FittedProtocol)
        self.spec = MetricSpec(
            f"dense({protocol},{what})",
            higher_is_better=True,
            level="corpus" if is_precision else "item",
            needs=frozenset({"references", "events"}) | inner.spec.needs,
            bounds=self.protocol.bounds,
            held_fixed=inner.spec.held_fixed if is_fitted else "",
            depends_on=frozenset({"references", *self.protocol.depends_on}),
            untestable="scores sets of events, which no permutation of texts tests",
        )

    def signature(self) -> str:
        """Return the protocol, the text metric and the parameters that were given."""
        options = self.options
        text = getattr(self.protocol, "text_signature", options.text.signature)
        parts = ["dense", options.protocol, f"text:{text}"]
        for name in (
            "measure",
            "tious",
            "seconds",
            "max_proposals",
            "annotators",
            "overlap",
            "hypothesis",
        ):
            value = getattr(options, name)
            if value is not None and value != "score":
                parts.append(f"{name}:{value}")
        return "|".join(parts)

    def cost(self, n: int, m: int, tokens: float, *, tested: bool = False) -> Cost:
        """Return the cost of the pairs of events of n candidates and m references,
        whose texts hold at most so many words.
        """
        events = tokens / WORDS_OF_EVENT
        limit = self.protocol.rules.limit
        predictions = events if limit is None else min(events, limit)
        # the longest text tells nothing of the others: people write few events
        pairs = n * m * predictions * min(events, REFERENCE_EVENTS)
        if self.options.measure != "score" and limit is not None:
            pairs = 0.0  # localisation makes no pairs of texts
        return Cost(
            seconds=2e-6 * tokens * (n + m) + 1e-5 * pairs,
            bytes=300.0 * (n + m) * tokens + 500.0 * pairs,
            advice="fewer events, or max_proposals",
        )


class DenseScore(Dense, SumMetric):
    """A protocol whose number is a function of sums over examples."""

    def addends(self, batch: Batch, features: Features, state: State) -> np.ndarray:
        """Return what the protocol sums over videos, shape (B, k)."""
        rows = [
            self.protocol.addends(videos, features, state)
            for videos in read_videos(batch, features, self.protocol.rules)
        ]
        return np.mean(rows, axis=0)

    def of_sums(self, sums: np.ndarray) -> np.ndarray:
        """Return the numbers (...) of sums (..., k)."""
        return self.protocol.of_sums(sums)


class FittedDenseScore(DenseScore):
    """A protocol with corpus state, such as the document frequencies of CIDEr."""

    def fit(self, references: Sequence[Sequence[str]], features: Features) -> State:
        """Return the corpus state of the text metric."""
        return self.protocol.fit(references, features)

    def merge(self, first: State, second: State) -> State:
        """Return the corpus state of two shards together."""
        return self.protocol.merge(first, second)


class MatchedDenseScore(DenseScore):
    """The protocol that matches events one to one, whose pairs can be shown."""

    def match_events(
        self, batch: Batch, features: Features, state: State
    ) -> MatchedEvents:
        """Return the pairs and scores, as
        :class:`~harness.contracts.MatchesEvents`.
        """
        protocol: MatchedProtocol = self.protocol
        rules = protocol.rules
        positions = [
            _event_positions(sides[batch.n :])
            for sides in read_sides(batch, features, rules)
        ]
        of_candidates: list[list[list[EventMatch]]] = []
        rows: list[np.ndarray] = []
        for videos in read_videos(batch, features, rules):
            matchings = protocol.matchings(videos, features)
            rows.append(addends_of_mean(protocol.scores_of(videos, matchings)))
            matches: list[list[EventMatch]] = [[] for _ in videos]
            for own in matchings:
                places = positions[own.video]
                if protocol.annotators != "merged":
                    places = [place for place in places if place[1] == own.annotator]
                for pair in own.pairs():
                    annotator, _, event = places[pair.reference]
                    matches[own.video].append(
                        replace(pair, annotator=annotator, reference=event)
                    )
            of_candidates.append(matches)
        return MatchedEvents(of_candidates, self.of_sums(np.mean(rows, axis=0)))


class ThresholdDenseScore(DenseScore):
    """A protocol whose score of a video is a mean over thresholds of the overlap."""

    @property
    def thresholds(self) -> Sequence[float]:
        """The thresholds, as :class:`~harness.contracts.ScoresThresholds`."""
        return self.protocol.tious

    def scores_at(
        self,
        batch: Batch,
        features: Features,
        state: State,
        thresholds: Sequence[float],
    ) -> np.ndarray:
        """Return the score of each example at each threshold, shape (B, T), the mean
        over candidates; as :class:`~harness.contracts.ScoresThresholds`.
        """
        rows = [
            self.protocol.scores_at(videos, features, tuple(thresholds))
            for videos in read_videos(batch, features, self.protocol.rules)
        ]
        return np.mean(rows, axis=0)


def _is_mean_over_overlaps(parameters: Mapping[str, Any]) -> bool:
    """Return True for parameters by which a score is a mean over thresholds of the
    overlap: neither an F1 of means nor a distance of starts.
    """
    return parameters.get("measure") != "f1" and parameters.get("seconds") is None


def _event_positions(sides: Sequence[Side]) -> list[tuple[int, int, int]]:
    """Return annotator, position among the annotators who described something, and
    position within it of each event, in the order of the merged events.
    """
    positions: list[tuple[int, int, int]] = []
    described = [number for number, side in enumerate(sides) if len(side)]
    for place, number in enumerate(described):
        positions += [(number, place, event) for event in range(len(sides[number]))]
    return positions


class DenseAveragePrecision(Dense, CorpusMetric):
    """A protocol whose number sorts the predictions of all examples."""

    def collect(
        self, batch: Batch, features: Features, state: State
    ) -> Sequence[object]:
        """Return the predictions of each image or scene, of the first set of each."""
        first, *_ = read_videos(batch, features, self.protocol.rules)
        return self.protocol.collect(first, features)

    def number(self, objects: Objects) -> float:
        """Return the mean average precision."""
        return self.protocol.number(objects)

    def numbers(self, objects: Objects, weights: np.ndarray) -> np.ndarray:
        """Return the mean average precision of each row of weights (W, B), shape (W,);
        NaN for a row without examples.
        """
        if not isinstance(self.protocol, RegionProtocol):
            return super().numbers(objects, weights)
        numbers = np.full(len(weights), np.nan)
        drawn = weights.any(axis=1)
        numbers[drawn] = self.protocol.numbers(objects, weights[drawn])
        return numbers


# The parameters are those of the constructor: ``__new__`` takes any.
_PARAMETERS = list(inspect.signature(Dense.__init__).parameters.values())[1:]
setattr(Dense, "__signature__", inspect.Signature(_PARAMETERS))  # noqa: B010
