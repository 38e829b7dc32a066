"""The pragmatic scores as metrics, for all models and data sets whose examples have a
target and distractors.

``Example.meta`` holds ``target_id`` and ``distractor_id`` (or ``distractor_ids``, a
list). The score of an example is the mean of the defined scores of its captions; it is
undefined, excluded and counted when all of them are. ``category`` restricts a metric to
the examples with that ``category`` or ``group`` in their meta; the others count as
skipped. A list of categories gives one column each.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

import numpy as np

from harness.contracts import Batch, Example, Features, Listener, MeanMetric, MetricSpec
from harness.contracts.parameters import check_arguments
from harness.errors import HarnessError, InputError
from harness.registry import resolve
from harness_metrics.pragmatic.scores import Mode, Scores, evaluate
from harness_tasks.a3ds.scene import FACTORS

_META = (
    "the metric '{metric}' needs 'target_id' and 'distractor_id' in the meta of each "
    "example; '{example}' has {keys}"
)


class _PragmaticMetric(MeanMetric):
    """Base class: a column of :func:`~harness_metrics.pragmatic.scores.evaluate`.

    Parameters
    ----------
    mode : {"paper", "authors-script"}, default "paper"
        Formulas of the paper, or columns of the authors' script.
    category : str, optional
        Category or group of the examples that count; all by default.

    Raises
    ------
    HarnessError
        For an unknown mode, or one that the metric does not have.

    References
    ----------
    Tsvilodub & Franke, "Evaluating pragmatic abilities of image captioners on A3DS"
    (ACL 2023), section 2.2.
    """

    name = ""
    """Registered name."""
    columns: ClassVar[Mapping[str, str]] = {}
    """Mode -> column."""
    higher_is_better: bool | None = True
    """Direction; None for neither."""
    bounds: tuple[float, float] | None = (0.0, 1.0)
    """Smallest and largest value."""

    @check_arguments
    def __init__(self, *, mode: Mode = "paper", category: str | None = None) -> None:
        if mode not in self.columns:
            raise HarnessError(
                f"the authors' script has no {self.name}; expected mode paper",
                parameter="mode",
                value=mode,
            )
        self.mode: Mode = mode
        self.category = category
        label = _label(self.name, None if mode == "paper" else mode, category)
        self.spec = MetricSpec(
            label, self.higher_is_better, needs=frozenset(), bounds=self.bounds
        )

    def signature(self) -> str:
        """Return the metric and its parameters as text."""
        return _signature(f"{self.name}|a3ds|mode:{self.mode}", self.category)

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the mean score of the captions of each example, ``(B,)``;
        NaN where undefined.
        """
        # all metrics of one mode share the scores of a batch
        key = ("pragmatic", self.mode, batch.ids, batch.text_ids.tobytes())
        scores = features.memo(key, lambda: self._all(batch))
        values = np.asarray(scores.columns[self._column()], dtype=np.float64)
        values = values.reshape(len(batch), batch.n)

        # nanmean warns of examples without a defined score
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            return _restrict(np.nanmean(values, axis=1), batch, self.category)

    def _column(self) -> str:
        """Return the column of the mode."""
        return self.columns[self.mode]

    def _all(self, batch: Batch) -> Scores:
        """Return the scores of all captions, example by example."""
        rows: list[dict[str, Any]] = []
        for item in batch.sets:
            game = _game(item.meta, item.id, self.name)
            rows.extend({"prediction": text, **game} for text in item.candidates)
        return evaluate(rows, self.mode)


def _label(name: str, *details: str | None) -> str:
    """Return ``name(detail,detail)``."""
    text = ",".join(detail for detail in details if detail is not None)
    return f"{name}({text})" if text else name


def _signature(signature: str, category: str | None) -> str:
    """Return a signature with the category."""
    return signature if category is None else f"{signature}|category:{category}"


def _restrict(scores: np.ndarray, batch: Batch, category: str | None) -> np.ndarray:
    """Return scores ``(B,)`` with NaN for the examples of other categories."""
    if category is None:
        return scores
    selected = [
        category in (item.meta.get("category"), item.meta.get("group"))
        for item in batch.sets
    ]
    return np.where(selected, scores, np.nan)


def _game(meta: Mapping[str, Any], example: str, metric: str) -> dict[str, Any]:
    """Return the target and distractors of an example;
    raise :class:`InputError` when its meta lacks them.
    """
    distractors = meta.get("distractor_ids", meta.get("distractor_id"))
    if "target_id" not in meta or distractors is None:
        keys = ", ".join(sorted(meta)) or "no meta"
        raise InputError(_META.format(metric=metric, example=example, keys=keys))

    # a list of one is that one, which the authors' script needs
    distractor: object = distractors
    if isinstance(distractors, (list, tuple)):
        several = list(cast("Sequence[object]", distractors))
        distractor = several[0] if len(several) == 1 else several
    return {"target_id": meta["target_id"], "distractor_id": distractor}


class Discriminativity(_PragmaticMetric):
    """1 for a caption that mentions features that exclude all distractors, else 0.

    Higher is better.
    """

    name = "discriminativity"
    columns: ClassVar[Mapping[str, str]] = {
        "paper": "discriminativity",
        "authors-script": "binary_contrastiveness",
    }


class ContrastiveEfficiency(_PragmaticMetric):
    """1 - (c - 1) / (k - 1) for c contrastive of k mentioned features, in [0, 1];
    NaN for c = 0.

    Higher is better.
    """

    name = "contrastive-efficiency"
    columns: ClassVar[Mapping[str, str]] = {
        "paper": "contrastive_efficiency",
        "authors-script": "contrastive_efficiency",
    }


class Relevance(_PragmaticMetric):
    """1 minus the share of the features common to target and distractor that are
    mentioned.

    Higher is better.
    """

    name = "relevance"
    columns: ClassVar[Mapping[str, str]] = {
        "paper": "relevance",
        "authors-script": "relevance",
    }


class OptimalDiscriminativity(_PragmaticMetric):
    """1 for a caption that mentions exactly one contrastive feature, else 0.

    Higher is better.
    """

    name = "optimal-discriminativity"
    columns: ClassVar[Mapping[str, str]] = {"paper": "optimal_discriminativity"}


class MentionedFeatures(_PragmaticMetric):
    """Number of mentioned features, true or false;
    a bare colour that fits no part counts as one more.
    """

    name = "mentioned-features"
    columns: ClassVar[Mapping[str, str]] = {
        "paper": "mentioned_features",
        "authors-script": "num_mentioned_features",
    }
    higher_is_better = None
    bounds = (0.0, 7.0)


class FalseFeatures(_PragmaticMetric):
    """Number of features that are false of the target or contradictory;
    of false words by the script.

    Lower is better.
    """

    name = "false-features"
    columns: ClassVar[Mapping[str, str]] = {
        "paper": "false_features",
        "authors-script": "num_false",
    }
    higher_is_better = False
    bounds = (0.0, math.inf)


class RedundantMention(_PragmaticMetric):
    """1 for a caption that mentions a feature common to target and distractor,
    else 0 (Figure 2).

    Lower is better.

    Undefined for examples whose target and distractor differ in the feature.

    Parameters
    ----------
    feature : str
        One of ``floor_hue``, ``wall_hue``, ``object_hue``, ``scale``, ``shape`` and
        ``orientation``.
    category : str, optional
        Category or group of the examples that count; all by default.

    Raises
    ------
    HarnessError
        For an unknown feature.
    """

    name = "redundant-mention"
    columns: ClassVar[Mapping[str, str]] = {"paper": "redundant"}
    higher_is_better = False

    def __init__(self, *, feature: str, category: str | None = None) -> None:
        if feature not in FACTORS:
            text = f"{self.name}: unknown feature"
            raise HarnessError.of_name(
                text, feature, FACTORS, "features are", parameter="feature"
            )
        super().__init__(category=category)
        self.feature = feature
        self.spec = MetricSpec(
            _label(self.name, feature, category),
            False,
            needs=frozenset(),
            bounds=(0.0, 1.0),
        )

    def signature(self) -> str:
        """Return the metric and its parameters as text."""
        return _signature(f"{self.name}|a3ds|feature:{self.feature}", self.category)

    def _column(self) -> str:
        """Return the column of the feature."""
        return f"redundant_{self.feature}"


class ListenerAccuracy(MeanMetric):
    """Share of captions for which a listener selects the target, in [0, 1].

    Higher is better.

    Parameters
    ----------
    listener : str or mapping, default "a3ds"
        Adapter that can listen (:class:`~harness.contracts.Listener`), with its
        parameters.
    category : str, optional
        Category or group of the examples that count; all by default.
    tag : str, optional
        Name of the listener in the label of the metric, which tells several listeners
        of one run apart.

    Raises
    ------
    HarnessError
        For an adapter that cannot listen.
    """

    def __init__(
        self,
        *,
        listener: Any = "a3ds",
        category: str | None = None,
        tag: str | None = None,
    ) -> None:
        self._listener = resolve("adapters", listener)
        if not isinstance(self._listener, Listener):
            raise HarnessError(
                f"listener-accuracy: the adapter {listener!r} cannot listen; "
                "expected one such as a3ds",
                parameter="listener",
                value=listener,
            )
        self.category = category
        self.spec = MetricSpec(
            _label("listener-accuracy", tag, category),
            True,
            needs=frozenset(),
            bounds=(0.0, 1.0),
        )

    def signature(self) -> str:
        """Return the metric and its parameters as text."""
        return _signature(f"listener-accuracy|{self._describe()}", self.category)

    def _describe(self) -> str:
        """Return the fingerprint of the listener,
        without the speaker of an adapter that has both.
        """
        fingerprint = self._listener.fingerprint
        return getattr(self._listener, "listener_fingerprint", fingerprint)()

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the share of understood captions of each example, ``(B,)``."""
        key = ("listener", self._describe(), batch.ids, batch.text_ids.tobytes())
        correct = features.memo(key, lambda: self._understood(batch))
        return _restrict(correct, batch, self.category)

    def _understood(self, batch: Batch) -> np.ndarray:
        """Return the share of captions for which the listener selects the target,
        ``(B,)``.
        """
        examples: list[Example] = []
        captions: list[str] = []
        for item in batch.sets:
            example = Example(
                item.id, item.references, item.media, item.source, item.meta
            )
            examples += [example] * batch.n
            captions += item.candidates

        # choice 0 is the target
        choices = np.asarray(self._listener.listen(examples, captions))
        return (choices == 0).reshape(len(batch), batch.n).mean(axis=1)
