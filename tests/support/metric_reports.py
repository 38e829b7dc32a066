"""Everything that a metric says of caption sets or token scores,
as JSON for pinned outputs.
"""

from __future__ import annotations

import dataclasses
import logging
import math
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from harness.contracts import CaptionSet, MetricSpec, Objects, TokenScores, cost_of
from harness.errors import HarnessError
from harness.registry import current
from harness.run import score as scoring
from harness.run.features import FeatureCache
from harness.run.metric_plan import MetricPlan, metric_plans
from harness.run.text_scores import score_captions
from harness.spec.models import SignificanceSpec

SAMPLES = 40
SEED = 3
"""Bootstrap samples of the intervals, and their seed."""
EXACT = SignificanceSpec(method="exact")
DRAWN = SignificanceSpec(
    method="monte-carlo", draws=150, scorings=2000, aggregate="summed"
)
_VERSION = re.compile(r"version:[^|]+")


def as_json(value: Any) -> Any:
    """Return a value with numbers of ten digits, arrays as lists, dataclasses as
    mappings and sets sorted.
    """
    if isinstance(value, np.ndarray):
        return as_json(cast("Any", value).tolist())
    if isinstance(value, np.generic):
        return as_json(value.item())
    if isinstance(value, float):
        return float(f"{value:.10g}") + 0.0 if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return _VERSION.sub("version:", value)
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return as_json(cast("Any", value)._asdict())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: as_json(getattr(value, field.name))
            for field in dataclasses.fields(value)
        }
    if isinstance(value, Mapping):
        return {
            str(name): as_json(item)
            for name, item in cast("Mapping[Any, Any]", value).items()
        }
    if isinstance(value, (set, frozenset)):
        return sorted(map(as_json, cast("set[Any]", value)), key=str)

    if isinstance(value, (list, tuple)):
        items = [as_json(item) for item in cast("Sequence[Any]", value)]
        if items and all(
            isinstance(item, (float, int)) or item in ("nan", "inf", "-inf")
            for item in items
        ):
            return (
                " ".join(map(str, items))
                if any(isinstance(item, str) for item in items)
                else items
            )
        return items
    return value


def attempt(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the result of a function as JSON,
    or the class of the error that refuses the arguments.
    """
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return as_json(function(*args, **kwargs))
    except HarnessError as error:
        return f"refused: {str(error).partition(chr(10))[0]:.250}"
    finally:
        logging.disable(logging.NOTSET)


def fields_of_spec(spec: MetricSpec) -> dict[str, Any]:
    """Return the fields of a specification that are not the defaults."""
    default = MetricSpec(spec.name, spec.higher_is_better, depends_on=frozenset())
    names = [field.name for field in dataclasses.fields(spec)]
    columns = {"column_names"} if len(spec.column_names) > 20 else set[str]()
    own = {"name", "higher_is_better"}
    return {
        name: getattr(spec, name)
        for name in names
        if name not in columns
        and (name in own or getattr(spec, name) != getattr(default, name))
    }


def usable(spec: MetricSpec, sets: Sequence[CaptionSet]) -> list[CaptionSet]:
    """Return the caption sets that are large enough for a metric."""
    return [
        item
        for item in sets
        if len(item.candidates) >= spec.min_candidates
        and len(item.references) >= spec.min_references
        and len(item.candidates) + len(item.references) >= spec.min_texts
    ]


def report(
    metric: Any,
    sets: Sequence[CaptionSet],
    significance: SignificanceSpec | None = EXACT,
) -> dict[str, Any]:
    """Return the result record of a metric, with the scores and p-values of the
    examples.
    """
    (plan,) = cast("list[MetricPlan]", metric_plans([metric]))
    result = score_captions(
        [plan], usable(metric.spec, sets), significance, SEED, SAMPLES
    )[plan.label]

    left_out = (
        "model",
        "task",
        "decoding",
        "params",
        "seconds",
        "level",
        "higher_is_better",
        "metric",
        "signature",
        "model_params",
    )
    record = {
        name: value
        for name, value in result.to_dict().items()
        if name not in left_out and value is not None
    }

    if "p" in record:  # the other combinations are functions of the p-values
        combined = cast("Mapping[str, Any]", record["p"])
        record["p"] = {
            name: combined[name] for name in ("calibrated", "floor", "discoveries")
        }

    return {
        **record,
        "per_example": result.per_example,
        **({} if result.p_values is None else {"p_values": result.p_values}),
    }


def capabilities(metric: Any, sets: Sequence[CaptionSet]) -> dict[str, Any]:
    """Return what a metric says of caption sets of one shape beside its record:
    credits, explanations, weighted numbers, merged fits.
    """
    sets = usable(metric.spec, sets)
    features = FeatureCache([item.references for item in sets])
    batch = features.batch(sets)
    state = scoring.fit_once(metric, features)
    out: dict[str, Any] = {}

    # the nearest of equal distances is that of rounding errors
    tied = getattr(getattr(metric, "embedding", None), "name", "") == "bow"
    for name in ("candidate_scores", "credits", *(() if tied else ("explain",))):
        if callable(getattr(metric, name, None)):
            out[name] = attempt(getattr(metric, name), batch, features, state)

    stats = metric.stats(batch, features, state)
    defined = stats[
        np.array(
            stats.defined
            if isinstance(stats, Objects)
            else ~np.isnan(np.asarray(stats)[:, 0])
        )
    ]

    if len(defined):
        weights = np.array(
            [np.arange(len(defined)) % 3, np.arange(len(defined))[::-1] % 2 + 1],
            dtype=np.float64,
        )
        out["weighted"] = attempt(metric.reduce, defined, weights)
    if hasattr(metric, "left_out"):
        out["left_out"] = attempt(metric.left_out, defined, SEED)
    if hasattr(metric, "interval"):
        out["interval"] = attempt(metric.interval, defined, SAMPLES, SEED)
        out["interval of two"] = attempt(
            metric.interval, defined[np.arange(2)], SAMPLES, SEED
        )

    if not isinstance(stats, Objects) and np.shape(stats)[1] > 1:
        out["stats"] = as_json(stats)
    if hasattr(metric, "null"):
        size = batch.n + batch.m
        labels = np.array(
            [
                [(k * step) % size < batch.n for k in range(size)]
                for step in (1, 2, 3)
                if math.gcd(step, size) == 1
            ]
        )
        out["null"] = attempt(metric.null, batch, features, state, labels)
    if state is not None and hasattr(metric, "merge"):
        out["merged"] = attempt(_merged, metric, sets)

    return out


def _credits(metric: Any, sets: Sequence[CaptionSet]) -> Any:
    features = FeatureCache([item.references for item in sets])
    return metric.credits(
        features.batch(sets), features, scoring.fit_once(metric, features)
    )


def _merged(metric: Any, sets: Sequence[CaptionSet]) -> Any:
    references = [item.references for item in sets]
    features = FeatureCache(references)
    batch = features.batch(sets)
    state = metric.merge(
        metric.fit(references[:3], features), metric.fit(references[3:], features)
    )
    return metric.reduce(metric.stats(batch, features, state))


def costs(metric: Any) -> Any:
    """Return what a metric declares that it takes for two sizes of sets,
    tested and not.
    """
    found = [
        cost_of(metric, n, m, tokens, tested=tested)
        for n, m, tokens in ((2, 3, 7.0), (40, 5, 11.5))
        for tested in (False, True)
    ]
    numbers = [[cost.seconds, cost.bytes, cost.fixed, cost.corpus] for cost in found]
    return {
        "numbers": as_json(numbers),
        "advice": " / ".join(dict.fromkeys(cost.advice for cost in found)),
    }


def report_all(
    metric: Any,
    mixed: Sequence[CaptionSet],
    even: Sequence[CaptionSet],
    further: Mapping[str, Sequence[CaptionSet]],
) -> Any:
    """Return all that a metric of caption sets says of the sets;
    ``further`` ones have Monte Carlo p-values.
    """
    out: dict[str, Any] = {
        "spec": as_json(fields_of_spec(metric.spec)),
        "signature": as_json(metric.signature()),
        "cost": costs(metric),
    }
    out["mixed"] = attempt(report, metric, mixed)
    out["even"] = attempt(report, metric, even)
    for name, sets in further.items():
        out[name] = attempt(report, metric, sets, DRAWN)
    out["beside"] = attempt(capabilities, metric, even)
    if hasattr(metric, "counts_end"):
        out["counts_end"] = metric.counts_end
    for n, m in ((2, 2), (3, 1), (1, 2)):
        few = usable(metric.spec, shorter(even[:3], n, m))
        if few and len(few[0].candidates) == n and len(few[0].references) == m:
            out[f"{n} + {m}"] = attempt(report, metric, few)
            if hasattr(metric, "credits") and n > 1:
                out[f"credits {n} + {m}"] = attempt(_credits, metric, few)
    return out


def report_scores(
    metric: Any,
    scores: Sequence[Sequence[TokenScores]],
    meta: Sequence[Mapping[str, Any]] = (),
) -> Any:
    """Return all that a metric of token scores says of them."""
    if meta:
        try:
            metric = metric.of_meta(meta)
        except HarnessError as error:
            return {"refused": str(error)}
    out: dict[str, Any] = {
        "spec": as_json(fields_of_spec(metric.spec)),
        "signature": metric.signature(),
    }
    out["values"] = attempt(metric.evaluate_scores, scores)
    out["per_example"] = attempt(metric.per_example, scores)
    out["intervals"] = attempt(metric.intervals, scores, SAMPLES, SEED)
    if len(scores) > 2 and not meta:
        out["intervals of two"] = attempt(metric.intervals, scores[:2], SAMPLES, SEED)
    if hasattr(metric, "column_sizes"):
        out["sizes"] = attempt(metric.column_sizes)
    return out


def create(name: str, parameters: Mapping[str, Any]) -> Any:
    """Return a registered metric."""
    return current().create("metrics", name, dict(parameters))


def shorter(
    sets: Sequence[CaptionSet], candidates: int, references: int
) -> list[CaptionSet]:
    """Return caption sets cut to so many candidates and references."""
    return [
        replace(
            item,
            candidates=item.candidates[:candidates],
            references=item.references[:references],
        )
        for item in sets
    ]
