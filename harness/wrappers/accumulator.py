"""Examples of a metric as JSON texts, collected in parts that may come from several
processes.

A corpus metric (document frequencies, embeddings of a corpus) has no sums that could be
added up: its state is the examples. Parts joined in their order give the same number as
one pass, to the digit.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from harness.contracts import CaptionSet, Parameters, TokenScoreMetric, TokenScores
from harness.contracts.parameters import Values
from harness.errors import HarnessError, InputError
from harness.run.metric_plan import AnyMetricPlan, MetricPlan, metric_plans
from harness.run.text_scores import MetricResult, score_captions
from harness.run.text_sets import caption_sets
from harness.run.token_scores import from_values, to_values

MetricName = str | Parameters | object
"""``name``, ``name:parameter=value``, ``{name: parameters}``, or an instance."""


@dataclass(frozen=True)
class WrappedMetric:
    """A metric with the texts that create it again in another process."""

    source: MetricName
    parameters: Parameters
    plan: AnyMetricPlan

    @classmethod
    def create(cls, source: MetricName, parameters: Parameters) -> WrappedMetric:
        """Return the metric of a name and its parameters.

        Raises :class:`HarnessError` for an unknown name or parameter, and for
        parameters beside an instance.
        """
        if parameters and isinstance(source, str) and ":" not in source:
            plans = metric_plans([{source: dict(parameters)}])
        elif parameters:
            raise HarnessError(
                f"parameters go with the bare name of a metric; found {source!r:.60}",
                parameter="metric",
            )
        else:
            plans = metric_plans([source])

        if len(plans) != 1:
            raise HarnessError(
                f"{len(plans)} metrics; expected one", parameter="metric", value=source
            )
        return cls(source, dict(parameters), plans[0])

    @property
    def label(self) -> str:
        """Label of the metric in tables."""
        return self.plan.label

    @property
    def higher_is_better(self) -> bool | None:
        """Direction of the metric; None where it has none."""
        return self.plan.metric.spec.higher_is_better

    @property
    def takes_captions(self) -> bool:
        """False for a metric of level ``model``, whose examples are token scores."""
        return isinstance(self.plan, MetricPlan)

    def caption_rows(
        self,
        predictions: Sequence[Any],
        references: Sequence[Any],
        *,
        media: Sequence[str | None] | None = None,
        sources: Sequence[str | None] | None = None,
        meta: Sequence[Parameters | None] | None = None,
    ) -> list[str]:
        """Return one JSON text per example.

        Parameters
        ----------
        predictions, references : sequence
            Per example a list of texts, or one text.
        media, sources, meta : sequence, optional
            Per example what the fields of the same names of
            :class:`~harness.contracts.CaptionSet` hold.

        Raises
        ------
        InputError
            For sequences of different lengths and for texts that are none.
        """
        self._require(captions=True)
        texts = [_texts(predictions), _texts(references)]
        # a process of several may have no examples
        if not any(texts):
            return []

        sets = caption_sets(*texts)
        optional = {"media": media, "source": sources, "meta": meta}
        for name, values in optional.items():
            if values is not None and len(values) != len(sets):
                raise InputError(
                    f"{len(values)} values of '{name}' for {len(sets)} examples",
                    parameter=name,
                )

        rows: list[str] = []
        for k, item in enumerate(sets):
            row: Values = {"candidates": item.candidates, "references": item.references}
            for name, values in optional.items():
                if values is not None and values[k] is not None:
                    row[name] = values[k]
            rows.append(_json(row))
        return rows

    def token_rows(self, scores: Sequence[Sequence[TokenScores]]) -> list[str]:
        """Return one JSON text per example of token scores (one :class:`TokenScores`
        per reference).
        """
        self._require(captions=False)
        return [_json([to_values(entry) for entry in example]) for example in scores]

    def _require(self, *, captions: bool) -> None:
        if captions != self.takes_captions:
            expected = "token scores of references (TokenScores)"
            if self.takes_captions:
                expected = "captions and references"
            raise HarnessError(f"metric '{self.label}' takes {expected}")

    def result(self, rows: Sequence[str]) -> MetricResult | dict[str, float]:
        """Return the result over the examples of :meth:`caption_rows`, or the columns
        over those of :meth:`token_rows`.

        Raises :class:`InputError` when there are no examples.
        """
        if not rows:
            raise InputError(
                f"metric '{self.label}' has no examples: call update before compute"
            )

        if not self.takes_captions:
            scores = [[from_values(entry) for entry in json.loads(row)] for row in rows]
            return cast(TokenScoreMetric, self.plan.metric).evaluate_scores(scores)
        sets = [_caption_set(k, json.loads(row)) for k, row in enumerate(rows)]
        return score_captions([cast(MetricPlan, self.plan)], sets)[self.label]

    def values(self, rows: Sequence[str]) -> dict[str, float]:
        """Return label -> number over examples;
        a metric of level ``model`` has one label per column.
        """
        result = self.result(rows)
        if isinstance(result, MetricResult):
            return {self.label: result.value}
        return {
            f"{self.plan.name}({name})": float(value) for name, value in result.items()
        }


def _texts(values: Any) -> Sequence[Any]:
    """Return a list of texts per example: a single text is a list of one."""
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise InputError(
            f"expected one text or list of texts per example; found {values!r:.60}"
        )
    items = cast("Sequence[Any]", values)
    return [[item] if isinstance(item, str) else item for item in items]


def _json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=True)
    except TypeError as error:
        raise InputError(
            f"the metadata of an example cannot be stored as JSON: {error}",
            parameter="meta",
        ) from error


def _caption_set(index: int, row: Values) -> CaptionSet:
    item = CaptionSet(
        str(index),
        tuple(row["candidates"]),
        tuple(row["references"]),
        row.get("media"),
        row.get("source"),
    )
    return replace(item, meta=row["meta"]) if "meta" in row else item
