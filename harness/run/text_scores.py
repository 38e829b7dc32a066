"""Scores of lists of texts, without a spec or a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from harness.contracts import CaptionSet, Features, Metric, PositionedBatch
from harness.errors import InputError
from harness.files.captions import check_text
from harness.run import score as scoring
from harness.run.features import FeatureCache

if TYPE_CHECKING:
    from harness.spec.models import SignificanceSpec


@dataclass(frozen=True)
class MetricResult:
    """Result of a metric on caption sets."""

    value: float
    """The corpus number over the defined examples."""
    per_example: np.ndarray
    """Scores, float64, shape (B,); NaN where the metric is undefined."""
    p_values: np.ndarray | None
    """Permutation p-values, shape (B,), or None when none were requested."""
    signature: str
    p_value: float | None = None
    """Combined p-value over the examples (:func:`harness.stats.combine.calibrated_p`)."""
    p_method: str = ""
    skipped: int = 0
    """Number of examples for which the metric is undefined."""


class BoundMetric:
    """A metric with its parameters, callable on lists of texts."""

    def __init__(self, label: str, metric: Metric, significance: SignificanceSpec | None) -> None:
        self.label = label
        self.metric = metric
        self.significance = significance

    def __repr__(self) -> str:
        return f"<metric {self.metric.signature()}>"

    def __call__(
        self, candidates: Sequence[Sequence[str]], references: Sequence[Sequence[str]], *, seed: int = 0
    ) -> MetricResult:
        """Score B examples.

        Parameters
        ----------
        candidates, references : sequence of sequences of str
            ``candidates[b]`` are the n texts of example b, ``references[b]`` its m references. Shapes may differ between
            examples. Corpus state (document frequencies) comes from ``references``.
        seed : int
            Seed of Monte Carlo p-values.

        Raises
        ------
        InputError
            An example is not a non-empty list of texts.
        """
        sets = caption_sets(candidates, references)
        features = FeatureCache([item.references for item in sets])
        parts = scoring.batches(sets, features, scoring.BATCH if self.significance else None)
        return score_batches(self.metric, parts, features, self.significance, seed)


def score_batches(
    metric: Metric,
    parts: Sequence[PositionedBatch],
    features: Features,
    significance: SignificanceSpec | None,
    seed: int,
) -> MetricResult:
    """Return the result of a metric on batches."""
    scored = scoring.score(metric, parts, features, significance, seed)
    defined = scored.defined
    value, _ = scoring.value_and_interval(metric, scored.stats[defined], 0, seed)
    combined = scoring.combined(scored.p_values, scored.p_floors, significance.fdr) if significance is not None else {}
    return MetricResult(
        value,
        scored.per_example(metric),
        scored.p_values,
        metric.signature(),
        combined.get("calibrated"),
        scored.p_method,
        int((~defined).sum()),
    )


def caption_sets(candidates: object, references: object) -> list[CaptionSet]:
    """Return lists of texts as caption sets with ids ``0, 1, ...``; raise :class:`InputError` with the place of a mistake."""
    lists = [
        _sequence(value, name, "with one list of texts per example")
        for value, name in ((candidates, "candidates"), (references, "references"))
    ]
    if len(lists[0]) != len(lists[1]):
        raise InputError(f"{len(lists[0])} examples have candidates but {len(lists[1])} have references")
    if not lists[0]:
        raise InputError("there are no examples")
    return [
        CaptionSet(
            str(index), _texts(ours, f"candidates: example {index}"), _texts(theirs, f"references: example {index}")
        )
        for index, (ours, theirs) in enumerate(zip(*lists))
    ]


def _sequence(value: object, where: str, content: str) -> Sequence[object]:
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        raise InputError(f"expected a list {content}; found {value!r:.60}", where)
    return cast("Sequence[object]", value)


def _texts(value: object, where: str) -> tuple[str, ...]:
    texts = _sequence(value, where, "of texts")
    if not texts:
        raise InputError("the list is empty; expected at least one text", where)
    return tuple(check_text(text, where) for text in texts)


def sets_of(candidates: object, references: object, *, allow_missing: bool) -> list[CaptionSet]:
    """Return the caption sets of two paths, two mappings id -> texts, or two lists; raise :class:`InputError` for a mistake."""
    if isinstance(candidates, (str, Path)) or isinstance(references, (str, Path)):
        from harness.run.file_pair import read_file_pair

        return read_file_pair(str(candidates), str(references), allow_missing=allow_missing)
    if isinstance(candidates, Mapping) and isinstance(references, Mapping):
        return _mapped_sets(
            cast("Mapping[object, Sequence[str]]", candidates),
            cast("Mapping[object, Sequence[str]]", references),
            allow_missing,
        )
    if isinstance(candidates, Mapping) or isinstance(references, Mapping):
        raise InputError("candidates and references are both paths, both mappings or both lists")
    return caption_sets(candidates, references)


def _mapped_sets(
    candidates: Mapping[object, Sequence[str]], references: Mapping[object, Sequence[str]], allow_missing: bool
) -> list[CaptionSet]:
    unknown = [key for key in candidates if key not in references]
    missing = [key for key in references if key not in candidates]
    if unknown or (missing and not allow_missing):
        what, which = ("no references", unknown) if unknown else ("no candidates", missing)
        raise InputError(f"{len(which)} ids have {what}: {', '.join(map(str, which[:5]))}")
    keys = [key for key in references if key in candidates]
    sets = caption_sets([candidates[key] for key in keys], [references[key] for key in keys])
    return [CaptionSet(str(key), item.candidates, item.references) for key, item in zip(keys, sets)]
