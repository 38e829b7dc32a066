"""Scores of lists of texts, without a spec or a run."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

import harness
from harness.contracts import CaptionSet
from harness.errors import HarnessError, InputError, counted
from harness.files.captions import by_text_id, matched_ids, texts_of, texts_per_example
from harness.files.rows import group_by_id, match_rows, rows_of, texts_of_rows
from harness.files.table_types import order_of_labels
from harness.run import score as scoring
from harness.run import warmup
from harness.run.advice_spelling import KEYWORD_SPELLING, respell
from harness.run.file_options import FileOptions
from harness.run.metric_plan import MetricPlan
from harness.run.output_notes import clean_sets
from harness.run.record_fields import number_fields
from harness.rundir.records import ResultRecord
from harness.stats.name_order import order_of_names

if TYPE_CHECKING:
    from harness.spec.models import SignificanceSpec


SAMPLES = 1000
"""Number of bootstrap samples of an interval, as in a spec."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class MetricResult(ResultRecord):
    """Record of a metric on caption sets, with the scores of the examples."""

    per_example: np.ndarray
    """Scores, float64, shape (B,); NaN where the metric is undefined."""
    p_values: np.ndarray | None
    """Permutation p-values, shape (B,), or None when none were requested."""

    def __repr__(self) -> str:
        interval = f" ({self.ci95[0]:.4g} … {self.ci95[1]:.4g})" if self.ci95 else ""
        p = "" if self.p_value is None else f", p {self.p_value:.3g}"
        return (
            f"<{self.metric} {self.value:.4g}{interval}{p}, "
            f"{counted(self.n, 'example')}>"
        )

    def _repr_html_(self) -> str:
        return harness.as_html(self)


class Scores(dict[str, MetricResult]):
    """Results by the label of the metric, which notebooks show as a table."""

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.values())) or "<no scores>"

    def _repr_html_(self) -> str:
        return harness.as_html(self)

    def chart(self) -> Any:
        """Return the distributions of the scores per example as an Altair chart."""
        return harness.as_chart(self)


class BoundMetric:
    """A metric with its parameters, callable on lists of texts."""

    def __init__(self, plan: MetricPlan, significance: SignificanceSpec | None) -> None:
        self.plan = plan
        self.significance = significance

    def __repr__(self) -> str:
        return f"<metric {self.plan.metric.signature()}>"

    def __call__(
        self,
        candidates: Sequence[str] | Sequence[Sequence[str]],
        references: Sequence[str] | Sequence[Sequence[str]],
        *,
        seed: int = 0,
        bootstrap: int = SAMPLES,
    ) -> MetricResult:
        """Score B examples.

        Parameters
        ----------
        candidates, references : sequence of sequences of str
            ``candidates[b]`` are the n texts of example b, ``references[b]`` its m
            references; a list of texts has one of each example. Shapes may differ
            between examples. Corpus state (document frequencies) comes from
            ``references``.
        seed : int
            Seed of Monte Carlo p-values and of the interval.
        bootstrap : int
            Number of bootstrap samples of the 95 % interval; 0: no interval.

        Raises
        ------
        InputError
            An example is not a non-empty list of texts.
        """
        sets = caption_sets(candidates, references)
        return score_captions([self.plan], sets, self.significance, seed, bootstrap)[
            self.plan.label
        ]


def score_captions(
    plans: Sequence[MetricPlan],
    sets: Sequence[CaptionSet],
    significance: SignificanceSpec | None = None,
    seed: int = 0,
    samples: int = SAMPLES,
) -> Scores:
    """Return the results of metrics by label on caption sets, with intervals of
    ``samples`` bootstrap samples (0: none).

    Raises :class:`HarnessError` for a number of samples below 0.
    """
    if samples < 0:
        raise HarnessError(
            f"bootstrap is {samples}; expected a number of samples, "
            "or 0 for no intervals",
            parameter="bootstrap",
        )
    warmup.warm(plan.metric for plan in plans)
    # metrics that still warm up come last
    order = sorted(plans, key=lambda plan: hasattr(plan.metric, "warm"))
    scored = scoring.score_sets(
        [plan.metric for plan in order], sets, significance, seed
    )
    scored_of = {plan.label: item for plan, item in zip(order, scored)}
    by_name = order_of_names([item.id for item in sets])
    return Scores(
        {
            plan.label: _result(
                plan, scored_of[plan.label], significance, seed, samples, by_name
            )
            for plan in plans
        }
    )


def _result(
    plan: MetricPlan,
    scored: scoring.Scored,
    significance: SignificanceSpec | None,
    seed: int,
    samples: int,
    order: np.ndarray | None,
) -> MetricResult:
    return MetricResult(
        model="",
        **number_fields(plan, scored, significance, samples, seed, order=order),
        per_example=scored.per_example(plan.metric),
        p_values=scored.p_values,
    )


def caption_sets(candidates: object, references: object) -> list[CaptionSet]:
    """Return lists of texts, lists of lists, or rows, as caption sets; raise
    :class:`InputError` for a mistake.

    The ids are ``0, 1, ...``. Rows (mappings, a data frame) have captions by the
    columns of their role; rows on both sides with columns of ids that agree are matched
    by these, and series and data frames with labels by the labels.
    """
    rows = rows_of(candidates), rows_of(references)
    labelled = candidates, references
    if rows[0] is not None:
        candidates = texts_of_rows(rows[0], "candidates")
    if rows[1] is not None:
        references = texts_of_rows(rows[1], "references")
    if rows[0] and rows[1]:
        ids = match_rows(rows[0], rows[1])
        if ids is not None and ids[0] != ids[1]:
            grouped = (
                group_by_id(ids[0], cast("list[object]", candidates)),
                group_by_id(ids[1], cast("list[object]", references)),
            )
            return _sets_of_mappings(*grouped, allow_missing=False, allow_unknown=False)
        order = None if ids is not None else order_of_labels(*labelled)
    else:
        order = order_of_labels(*labelled)
    if order is not None:
        listed = list(cast("Sequence[object]", references))
        references = [listed[place] for place in order]
    hyps = texts_per_example(candidates, "candidates")
    refs = texts_per_example(references, "references")
    if len(hyps) != len(refs):
        streams = all(len(texts) == len(hyps) for texts in refs)
        hint = (
            "; of lists with one reference of every example each, "
            "pass list(zip(*references))"
            if streams
            else ""
        )
        raise InputError(
            f"{counted(len(hyps), 'example', 'has/have')} candidates but {len(refs)} "
            f"have references{hint}"
        )
    if not hyps:
        raise InputError("there are no examples")
    return [
        CaptionSet(str(index), *texts) for index, texts in enumerate(zip(hyps, refs))
    ]


def _sets_of_mappings(
    candidates: Mapping[str, object],
    references: Mapping[str, object],
    *,
    allow_missing: bool,
    allow_unknown: bool,
) -> list[CaptionSet]:
    """Return the caption sets of the ids of two mappings."""
    keys = matched_ids(
        candidates, references, allow_missing=allow_missing, allow_unknown=allow_unknown
    )
    if not keys:
        raise InputError("there are no examples")
    return [
        CaptionSet(
            key,
            texts_of(candidates[key], f"candidates: '{key}'"),
            texts_of(references[key], f"references: '{key}'"),
        )
        for key in keys
    ]


def _are_paths(value: object) -> bool:
    """Return True for a list of names of existing files."""
    items = cast("list[object]", value) if isinstance(value, (list, tuple)) else []
    return bool(items) and all(
        isinstance(item, (str, Path)) and os.path.isfile(item) for item in items
    )


def _has_ids_as_keys(value: object) -> bool:
    """Return True for a mapping id -> texts, unlike one of columns."""
    return (
        isinstance(value, Mapping)
        and rows_of(cast("Mapping[object, object]", value)) is None
    )


def sets_of(
    candidates: object,
    references: object,
    *,
    allow_missing: bool,
    allow_unknown: bool = False,
    allow_empty: bool = False,
    options: FileOptions = FileOptions(),  # noqa: B008  (frozen)
) -> list[CaptionSet]:
    """Return the caption sets of two paths, two mappings id -> texts, or two lists;
    raise :class:`InputError` for a mistake.
    """
    try:
        if isinstance(candidates, (str, Path)) and (
            isinstance(references, (str, Path)) or _are_paths(references)
        ):
            from harness.run.file_pair import read_file_pair

            faults = {
                "missing": allow_missing,
                "unknown": allow_unknown,
                "empty": allow_empty,
            }
            allow = [name for name, accepted in faults.items() if accepted]
            return read_file_pair(
                candidates,
                cast("str | list[str]", references),
                allow=allow,
                options=options,
            )
        by_id = _has_ids_as_keys(candidates), _has_ids_as_keys(references)
        if all(by_id):
            hyps = by_text_id(cast("Mapping[object, object]", candidates), "candidates")
            refs = by_text_id(cast("Mapping[object, object]", references), "references")
            sets = _sets_of_mappings(
                hyps, refs, allow_missing=allow_missing, allow_unknown=allow_unknown
            )
        elif (
            any(by_id)
            or isinstance(candidates, (str, Path))
            or isinstance(references, (str, Path))
        ):
            raise InputError(
                "candidates and references are both paths, both mappings or both lists"
            )
        else:
            sets = caption_sets(candidates, references)
        if not allow_empty:
            _refuse_empty(sets)
        return clean_sets(sets, options.clean, allow_empty=allow_empty)
    except InputError as error:
        raise respell(error, KEYWORD_SPELLING) from error


def _refuse_empty(sets: Sequence[CaptionSet]) -> None:
    """Raise :class:`InputError` for the first blank text,
    as the readers of files do.
    """
    for item in sets:
        for name, texts in (
            ("candidates", item.candidates),
            ("references", item.references),
        ):
            for text in texts:
                if not text.strip():
                    noun = "caption" if name == "candidates" else "reference"
                    raise InputError(
                        f"empty {noun} {text!r} (allow_empty: true keeps it)",
                        f"{name}: '{item.id}'",
                    )
