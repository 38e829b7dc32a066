"""The pragmatic scores as metrics of a run: any captioner whose examples name a target and its distractors.

``Example.meta`` holds ``target_id`` and ``distractor_id`` (or ``distractor_ids``, a list). An example with several captions scores
the mean of its captions; where a score is undefined for all of them it is undefined for the example, left out and counted.
``category`` narrows a metric to the examples with that ``category`` or ``group`` in their meta; the others are left out (and so
counted as skipped). A list of categories makes one column each.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from harness.contracts import Batch, Example, Features, Listener, MeanMetric, MetricSpec
from harness.errors import HarnessError, InputError
from harness.plugins.pragmatic.scores import Mode, Scores, evaluate

_META = (
    "the metric '{metric}' needs 'target_id' and 'distractor_id' in the meta of each example; '{example}' has {found}"
)


class _PragmaticMetric(MeanMetric):
    """A column of :func:`~harness.plugins.pragmatic.scores.evaluate`."""

    name = ""
    columns: dict[str, str] = {}  # noqa: RUF012  (mode -> column, never changed)
    higher_is_better: bool | None = True
    bounds: tuple[float, float] | None = (0.0, 1.0)

    def __init__(self, *, mode: Mode = "paper", category: str | None = None) -> None:
        if mode not in ("paper", "authors-script"):
            raise HarnessError(f"unknown mode '{mode}' of the metric '{self.name}': expected paper or authors-script")
        if mode not in self.columns:
            raise HarnessError(f"the authors' script has no {self.name}: use mode paper")
        self.mode: Mode = mode
        self.category = category
        shown = _named(self.name, None if mode == "paper" else mode, category)
        self.spec = MetricSpec(shown, self.higher_is_better, needs=frozenset(), bounds=self.bounds)

    def signature(self) -> str:
        return _signed(f"{self.name}|a3ds|mode:{self.mode}", self.category)

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        found = features.memo(("pragmatic", self.mode, batch.ids, batch.text_ids.tobytes()), lambda: self._all(batch))
        values = np.asarray(found.columns[self.columns[self.mode]], dtype=np.float64).reshape(len(batch), batch.n)
        with warnings.catch_warnings():  # an example whose captions are all undefined is undefined
            warnings.simplefilter("ignore", RuntimeWarning)
            return _narrowed(np.nanmean(values, axis=1), batch, self.category)

    def _all(self, batch: Batch) -> Scores:
        rows = []
        for item in batch.sets:
            game = _game(item.meta, item.id, self.name)
            rows.extend({"prediction": text, **game} for text in item.candidates)
        return evaluate(rows, self.mode)


def _named(name: str, *details: str | None) -> str:
    shown = ",".join(detail for detail in details if detail is not None)
    return f"{name}({shown})" if shown else name


def _signed(signature: str, category: str | None) -> str:
    return signature if category is None else f"{signature}|category:{category}"


def _narrowed(scores: np.ndarray, batch: Batch, category: str | None) -> np.ndarray:
    """``scores`` (B,) with NaN for the examples of other categories."""
    if category is None:
        return scores
    own = [category in (item.meta.get("category"), item.meta.get("group")) for item in batch.sets]
    return np.where(own, scores, np.nan)


def _game(meta: Any, example: str, metric: str) -> dict[str, Any]:
    distractors = meta.get("distractor_ids", meta.get("distractor_id"))
    if "target_id" not in meta or distractors is None:
        found = ", ".join(sorted(meta)) or "no meta"
        raise InputError(_META.format(metric=metric, example=example, found=found))
    if isinstance(distractors, (list, tuple)) and len(distractors) == 1:
        distractors = distractors[0]
    return {"target_id": meta["target_id"], "distractor_id": distractors}


class Discriminativity(_PragmaticMetric):
    """1 where the caption mentions a feature that tells the target from the distractor (from all of them), else 0."""

    name = "discriminativity"
    columns = {"paper": "discriminativity", "authors-script": "binary_contrastiveness"}  # noqa: RUF012


class ContrastiveEfficiency(_PragmaticMetric):
    """1 where nothing but one contrastive feature is mentioned, 0 where all that is mentioned is contrastive."""

    name = "contrastive-efficiency"
    columns = {"paper": "contrastive_efficiency", "authors-script": "contrastive_efficiency"}  # noqa: RUF012


class Relevance(_PragmaticMetric):
    """1 minus the share of the features common to target and distractor that are mentioned all the same."""

    name = "relevance"
    columns = {"paper": "relevance", "authors-script": "relevance"}  # noqa: RUF012


class OptimalDiscriminativity(_PragmaticMetric):
    """1 where exactly one contrastive feature is mentioned, else 0."""

    name = "optimal-discriminativity"
    columns = {"paper": "optimal_discriminativity"}  # noqa: RUF012


class MentionedFeatures(_PragmaticMetric):
    """How many of the six features are mentioned, true or false."""

    name = "mentioned-features"
    columns = {"paper": "mentioned_features", "authors-script": "num_mentioned_features"}  # noqa: RUF012
    higher_is_better = None
    bounds = (0.0, 7.0)


class FalseFeatures(_PragmaticMetric):
    """How many features are said falsely of the target, or two different things of one (the script: how many words)."""

    name = "false-features"
    columns = {"paper": "false_features", "authors-script": "num_false"}  # noqa: RUF012
    higher_is_better = False
    bounds = None


class RedundantMention(_PragmaticMetric):
    """1 where the caption truly mentions the given feature although it tells nothing apart (Figure 2); undefined where
    the feature differs between target and distractor."""

    name = "redundant-mention"
    columns = {"paper": ""}  # noqa: RUF012
    higher_is_better = False

    def __init__(self, *, feature: str, category: str | None = None) -> None:
        from harness.errors import did_you_mean
        from harness.tasks.a3ds.scene import FACTORS

        if feature not in FACTORS:
            raise HarnessError(
                f"unknown feature '{feature}' of the metric '{self.name}'{did_you_mean(feature, FACTORS)}; "
                f"features are {', '.join(FACTORS)}"
            )
        super().__init__(category=category)
        self.feature = feature
        self.columns = {"paper": f"redundant_{feature}"}
        self.spec = MetricSpec(_named(self.name, feature, category), False, needs=frozenset(), bounds=(0.0, 1.0))

    def signature(self) -> str:
        return _signed(f"{self.name}|a3ds|feature:{self.feature}", self.category)


class ListenerAccuracy(MeanMetric):
    """How often a listener picks the target for the caption: ``listener`` names an adapter that can listen, with its parameters."""

    def __init__(self, *, listener: Any = "a3ds", category: str | None = None) -> None:
        from harness.registry import resolve

        self._listener = resolve("adapters", listener)
        if not isinstance(self._listener, Listener):
            raise HarnessError(f"the adapter {listener!r} cannot listen; listener-accuracy needs one that can (a3ds)")
        self.category = category
        self.spec = MetricSpec(_named("listener-accuracy", category), True, needs=frozenset(), bounds=(0.0, 1.0))

    def signature(self) -> str:
        return _signed(f"listener-accuracy|{self._describe()}", self.category)

    def _describe(self) -> str:
        """The listener's fingerprint; an adapter that speaks too may tell its listener's alone."""
        return getattr(self._listener, "listener_fingerprint", self._listener.fingerprint)()

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        correct = features.memo(
            ("listener", self._describe(), batch.ids, batch.text_ids.tobytes()), lambda: self._heard(batch)
        )
        return _narrowed(correct, batch, self.category)

    def _heard(self, batch: Batch) -> np.ndarray:
        examples = [
            Example(item.id, item.references, item.media, item.source, item.meta)
            for item in batch.sets
            for _ in range(batch.n)
        ]
        captions = [text for item in batch.sets for text in item.candidates]
        choices = np.asarray(self._listener.listen(examples, captions))
        return (choices == 0).reshape(len(batch), batch.n).mean(axis=1)
