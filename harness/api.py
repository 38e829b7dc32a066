"""The Python API: ``harness.evaluate``, ``harness.score``, ``harness.metric``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.contracts import CaptionSet, Features, Metric
from harness.errors import HarnessError, InputError
from harness.registry import current, split_spec
from harness.run import score as scoring
from harness.run import warmup as warming
from harness.run.features import FeatureCache
from harness.run.garbage_collection import rare_collections
from harness.run.metric_plan import MetricPlan, expand_params, metric_labels

if TYPE_CHECKING:  # a score of two lists needs neither specs nor runs: a third of a second
    from harness.run.execute import Run
    from harness.spec.models import SignificanceSpec, Spec

_SURROGATE = re.compile("[\ud800-\udfff]")


def evaluate(
    spec: str | Path | Mapping[str, Any] | Spec,
    *,
    output: str | Path | None = None,
    mode: str = "auto",
    overrides: Sequence[str] = (),
    show: bool = False,
    **replace: Any,
) -> Run:
    """Run a spec: a file, the name of a shipped task, a mapping or a :class:`~harness.spec.models.Spec`.

    ``replace`` overrides top-level keys (``limit=100``, ``seed=1``, ``metrics=[...]``); ``overrides`` are ``"a.b=value"`` strings as
    for ``--set``. Without ``output`` nothing is written. ``mode``: ``auto``, ``resume`` or ``fresh``. A suite (a spec that includes
    several tasks) runs one after the other, each into a folder of its own. Raises :class:`HarnessError` for mistakes.
    """
    from harness.run.execute import merged, run
    from harness.run.plan import make_plan
    from harness.spec.loading import load_specs

    loaded = load_specs(spec, overrides, **replace)
    plans = [make_plan(item) for item in loaded]
    runs = []
    for plan in plans:
        folder = None if output is None else Path(output) if len(plans) == 1 else Path(output) / plan.spec.task
        runs.append(run(plan, output=folder, mode=mode, show=show))
    return merged(runs)


@dataclass(frozen=True)
class MetricResult:
    """What a metric says of some caption sets."""

    value: float
    """The corpus number over the defined examples."""
    per_example: np.ndarray
    """(B,) float64; NaN where the metric is undefined."""
    p_values: np.ndarray | None
    """(B,) permutation p-values, or None when none were asked for."""
    signature: str
    p_value: float | None = None
    """The per-example p-values combined by their harmonic mean."""
    p_method: str = ""
    skipped: int = 0
    """Examples for which the metric is undefined."""


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
        """Score B examples: ``candidates[b]`` are the n texts of example b, ``references[b]`` its m references.

        Shapes may differ between examples. Corpus state (document frequencies) comes from ``references``. Raises
        :class:`InputError` naming the example for anything that is not a non-empty list of texts.
        """
        sets = caption_sets(candidates, references)
        features = FeatureCache([item.references for item in sets])
        parts = scoring.batches(sets, features, scoring.BATCH if self.significance else None)
        return result(self.metric, parts, features, self.significance, seed)


def result(
    metric: Metric, parts: Sequence[Any], features: Features, significance: SignificanceSpec | None, seed: int
) -> MetricResult:
    """Score batches with one metric."""
    if metric.spec.level == "model":
        raise HarnessError(
            f"metric '{metric.spec.name}' judges token scores, not captions: run it on a model that can score"
        )
    scored = scoring.score(metric, parts, features, significance, seed)
    defined = scored.defined
    value, _ = scoring.value_and_interval(metric, scored.stats[defined], 0, seed)
    per_example = np.full(len(defined), np.nan)
    if defined.any():
        per_example[defined] = metric.per_example(scored.stats[defined])
    combined = scoring.combined(scored.p_values, significance.fdr) if significance is not None else {}
    return MetricResult(
        value,
        per_example,
        scored.p_values,
        metric.signature(),
        combined.get("harmonic_mean"),
        scored.p_method,
        int((~defined).sum()),
    )


def caption_sets(candidates: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> list[CaptionSet]:
    """Lists of texts as caption sets with ids ``0, 1, ...``; raises :class:`InputError` naming what is wrong where."""
    for name, texts in (("candidates", candidates), ("references", references)):
        if isinstance(texts, (str, bytes)) or not isinstance(texts, Sequence):
            raise InputError(f"expected a list with one list of texts per example; found {type(texts).__name__}", name)
    if len(candidates) != len(references):
        raise InputError(f"{len(candidates)} examples have candidates but {len(references)} have references")
    if not candidates:
        raise InputError("there are no examples")
    sets = []
    for index, (some, others) in enumerate(zip(candidates, references)):
        for name, texts in (("candidates", some), ("references", others)):
            if isinstance(texts, (str, bytes)) or not isinstance(texts, Sequence):
                raise InputError(f"expected a list of texts; found {texts!r:.60}", f"{name}: example {index}")
            if not texts:
                raise InputError("the list is empty; expected at least one text", f"{name}: example {index}")
            for text in texts:
                _check_text(text, f"{name}: example {index}")
        sets.append(CaptionSet(str(index), tuple(some), tuple(others)))
    return sets


def _check_text(text: Any, where: str) -> None:
    if not isinstance(text, str):
        raise InputError(f"a caption must be text; found {text!r:.60}", where)
    if not text.isascii() and _SURROGATE.search(text):
        raise InputError(f"the caption holds an unpaired surrogate, half of a character: {text!r:.80}", where)


def metric(
    name: str, *, p_value: str | None = None, budget: int = 200_000, draws: int = 10_000, **params: Any
) -> BoundMetric:
    """A metric by name with its parameters: ``harness.metric("trm", distance="cider", p_value="exact")``.

    ``p_value``: None, ``"exact"`` (falls to Monte Carlo beyond ``budget`` relabelings and says so) or ``"monte-carlo"``.
    """
    made = current().create("metrics", name, params)
    return BoundMetric(made.spec.name, made, _significance(p_value, budget=budget, draws=draws))


def _significance(method: str | None, **settings: Any) -> SignificanceSpec | None:
    if method in (None, "none"):
        return None
    if method not in ("exact", "monte-carlo"):
        raise HarnessError(f"p_value is {method!r}; expected None, 'exact' or 'monte-carlo'")
    from harness.spec.models import SignificanceSpec

    return SignificanceSpec(method=method, **settings)  # type: ignore[arg-type]


def parse_metric(text: str) -> dict[str, dict[str, Any]]:
    """``trm:distance=bert,pooling=per-direction`` as ``{"trm": {...}}``; values are YAML, a comma in brackets is the value's own.

    >>> parse_metric("trm:distance={cider: {df: x, tokenizer: none}},pooling=pooled")
    {'trm': {'distance': {'cider': {'df': 'x', 'tokenizer': 'none'}}, 'pooling': 'pooled'}}
    """
    import yaml

    name, _, rest = text.partition(":")
    params: dict[str, Any] = {}
    for part in filter(None, _parts(rest)):
        key, equals, value = part.partition("=")
        if not equals or not key.strip():
            raise HarnessError(f"metric '{text}': expected NAME or NAME:PARAMETER=VALUE,...; found '{part}'")
        try:
            params[key.strip()] = yaml.safe_load(value)
        except yaml.YAMLError:
            raise HarnessError(f"metric '{text}': the value of '{key.strip()}' is not readable: '{value}'") from None
    return {name.strip(): params}


def _parts(text: str) -> list[str]:
    """The text split at the commas that stand in no brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "[{") - (character in "]}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def metric_plans(metrics: Sequence[Any]) -> list[MetricPlan]:
    """Metrics from names, ``name:param=value`` strings, ``{name: params}`` mappings or instances; labels made unique."""
    plans: list[MetricPlan] = []
    for item in metrics:
        if not isinstance(item, (str, Mapping)):
            plans.append(MetricPlan(item.spec.name, item.spec.name, {}, item))
            continue
        name, params = split_spec(parse_metric(item) if isinstance(item, str) else item, "metric")
        factory = current().load("metrics", name)
        for choice in expand_params(params, getattr(factory, "list_parameters", ())):
            made = current().create("metrics", name, choice)
            plans.append(MetricPlan(made.spec.name, name, choice, made))
    labels = metric_labels(plans)
    return [MetricPlan(label, plan.name, plan.params, plan.metric) for label, plan in zip(labels, plans)]


@rare_collections()
def score(
    candidates: Any,
    references: Any,
    metrics: Sequence[Any],
    *,
    p_value: str | None = None,
    seed: int = 0,
    allow_missing: bool = False,
) -> dict[str, MetricResult]:
    """Score two files, or two lists of lists of texts, with several metrics; features are shared.

    ``candidates`` and ``references`` are both paths (any format of docs/data-formats.md), both mappings id -> texts, or both
    lists. Returns a result for each metric by its label. Raises :class:`HarnessError` for mistakes in any of it.
    """
    metrics = [metrics] if isinstance(metrics, (str, Mapping)) else metrics
    significance = _significance(p_value)
    sets = _sets(candidates, references, allow_missing)
    features = FeatureCache([item.references for item in sets])
    plans = metric_plans(metrics)
    warming.warm(plan.metric for plan in plans)
    parts = scoring.batches(sets, features, scoring.BATCH if significance else None)
    ready_first = sorted(plans, key=lambda plan: hasattr(plan.metric, "warm"))
    found = {plan.label: result(plan.metric, parts, features, significance, seed) for plan in ready_first}
    return {plan.label: found[plan.label] for plan in plans}


def _sets(candidates: Any, references: Any, allow_missing: bool) -> list[CaptionSet]:
    if isinstance(candidates, (str, Path)) or isinstance(references, (str, Path)):
        from harness.contracts import Decoding, Generation, TaskView

        examples = list(current().create("readers", "auto", {"path": str(references)}))
        adapter = current().create("adapters", "predictions", {"path": str(candidates), "allow_missing": allow_missing})
        adapter.prepare(TaskView(examples, Decoding()))
        made = adapter.generate(examples, Decoding(), [0] * len(examples))
        texts = [item.candidates if isinstance(item, Generation) else item for item in made]
        return [
            CaptionSet(e.id, tuple(t), e.references, e.media, e.source, e.meta) for e, t in zip(examples, texts) if t
        ]
    if isinstance(candidates, Mapping) and isinstance(references, Mapping):
        unknown = [key for key in candidates if key not in references]
        missing = [key for key in references if key not in candidates]
        if unknown or (missing and not allow_missing):
            what, which = ("no references", unknown) if unknown else ("no candidates", missing)
            raise InputError(f"{len(which)} ids have {what}: {', '.join(map(str, which[:5]))}")
        keys = [key for key in references if key in candidates]
        sets = caption_sets([candidates[key] for key in keys], [references[key] for key in keys])
        return [CaptionSet(str(key), item.candidates, item.references) for key, item in zip(keys, sets)]
    if isinstance(candidates, Mapping) or isinstance(references, Mapping):
        raise InputError("candidates and references are both paths, both mappings or both lists")
    return caption_sets(candidates, references)
