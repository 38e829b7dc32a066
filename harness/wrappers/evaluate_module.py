"""Metrics as modules of the library evaluate: ``add``, ``add_batch``, ``compute``,
several processes over files.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

from harness import __version__
from harness.contracts.parameters import Values
from harness.errors import require
from harness.run.token_scores import from_values
from harness.wrappers.accumulator import MetricName, WrappedMetric

_INPUTS = """
Args:
    predictions: per example one text, or a list of texts.
    references: per example one text, or a list of texts.
Returns:
    A dict: label of the metric -> number.
"""
_TOKEN_INPUTS = """
Args:
    predictions: per example a list with {"log_probs": [...], "ranks": [...]} of each
        reference, optionally with "tokens".
Returns:
    A dict: label of a column -> number.
"""
_DIRECTIONS = {
    True: "higher is better",
    False: "lower is better",
    None: "no direction",
}
"""``higher_is_better`` of a metric as a text."""


def as_evaluate(
    metric: MetricName, /, *, module: Values | None = None, **params: Any
) -> Any:
    """Return a metric as an :class:`evaluate.Metric`.

    ``compute(predictions=..., references=...)`` returns ``{label: number}``. A
    prediction is a text or a list of texts, the references of an example likewise. A
    metric of level ``model`` takes predictions alone: per example a list with
    ``log_probs``, ``ranks`` and optionally ``tokens`` of each reference. With one
    process, ``compute`` also takes ``media``, ``sources`` and ``meta``, one value per
    example. Several processes (``num_process``, ``process_id``, ``experiment_id``)
    write their examples to files, and the first computes the number over all of them.

    Parameters
    ----------
    metric : str, mapping or instance
        ``name``, ``name:parameter=value``, ``{name: parameters}``, or an instance.
    module : dict, optional
        Arguments of :class:`evaluate.EvaluationModule`: ``num_process``,
        ``process_id``, ``experiment_id``, ``cache_dir``, ``keep_in_memory``, ...
    **params
        Parameters of a metric that is given by its bare name.

    Raises
    ------
    MissingExtra
        If evaluate is not installed.
    HarnessError
        For an unknown metric or parameter.

    Examples
    --------
    >>> cider = as_evaluate("cider")  # doctest: +SKIP
    >>> cider.compute(
    ...     predictions=["a dog runs"], references=[["a dog runs fast", "the dog runs"]]
    ... )  # doctest: +SKIP
    {'cider': ...}
    """
    from harness.registry.torchvision_guard import guard_torchvision

    guard_torchvision()
    require("evaluate", needed_by="as_evaluate", extra="evaluate")
    return _class()(WrappedMetric.create(metric, params), **(module or {}))


@cache
def _class() -> Any:
    evaluate = importlib.import_module("evaluate")
    datasets = importlib.import_module("datasets")

    class EvaluateModule(evaluate.Metric):
        """A metric of the harness as a module of evaluate."""

        def __init__(self, wrapped: WrappedMetric, **arguments: Any) -> None:
            self.wrapped = wrapped
            super().__init__(**{"config_name": _identifier(wrapped.label), **arguments})

        @property
        def name(self) -> str:
            """Label of the metric."""
            return self.wrapped.label

        def _info(self) -> Any:
            metric = self.wrapped.plan.metric
            takes_captions = self.wrapped.takes_captions
            direction = _DIRECTIONS[metric.spec.higher_is_better]
            return evaluate.MetricInfo(
                description=(
                    f"{self.wrapped.label} of harness {__version__} ({direction}). "
                    f"Signature: {metric.signature()}"
                ),
                citation="",
                inputs_description=_INPUTS if takes_captions else _TOKEN_INPUTS,
                features=_features(datasets, captions=takes_captions),
            )

        def _compute(
            self, predictions: Any, references: Any = None, **fields: Any
        ) -> dict[str, float]:
            if self.wrapped.takes_captions:
                rows = self.wrapped.caption_rows(
                    _plain(predictions), _plain(references), **fields
                )
            else:
                scores = [[from_values(x) for x in example] for example in predictions]
                rows = self.wrapped.token_rows(scores)
            return self.wrapped.values(rows)

    return EvaluateModule


def _features(datasets: Any, *, captions: bool) -> Any:
    """Return the types of the inputs; for captions the alternatives of single texts and
    lists of texts.
    """
    text = datasets.Value("string")
    if not captions:
        numbers = {
            "log_probs": [datasets.Value("float64")],
            "ranks": [datasets.Value("int64")],
        }
        kinds = ({**numbers, "tokens": [text]}, numbers)
        return [datasets.Features({"predictions": [kind]}) for kind in kinds]

    kinds = ([text], text)
    return [
        datasets.Features({"predictions": p, "references": r})
        for p in kinds
        for r in kinds
    ]


def _plain(values: Any) -> list[Any]:
    return [value if isinstance(value, str) else list(value) for value in values]


def _identifier(label: str) -> str:
    """Return a label as part of a file name.

    >>> _identifier("trm(meteor)")
    'trm-meteor'
    """
    return "-".join("".join(c if c.isalnum() else " " for c in label).split())
