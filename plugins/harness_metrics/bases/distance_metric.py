"""Base of metrics that depend on the pairwise distances of an example's texts alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from harness import registry
from harness.contracts import Cost, Distance, MetricSpec, Warms, fitted_fields
from harness.contracts.bases import MeanMetric

DistanceSpec = str | Mapping[str, Any] | Distance


class DistanceMetric(MeanMetric):
    """Mean over examples of a function of the distances between their texts.

    A subclass defines ``scores``. It is shown as ``name(distance, options)``.

    Parameters
    ----------
    name : str
        Registered name.
    distance : str, mapping or Distance
        A registered distance: name, ``{name: {parameters}}`` or instance.
    higher : bool or None
        Direction of the metric.
    *options : str
        Further parts of the displayed name and the signature.
    references : bool
        True for a metric that reads the references.
    **fields
        Further fields of the :class:`MetricSpec`.
    """

    def __init__(
        self,
        name: str,
        distance: DistanceSpec,
        higher: bool | None,
        *options: str,
        references: bool = True,
        **fields: Any,
    ) -> None:
        self.distance: Distance = registry.resolve("distances", distance)
        self._signature = "|".join([name, *options, self.distance.signature()])

        needs: set[str] = set(getattr(self.distance, "needs", ()))
        if references:
            needs.add("references")

        arguments = ", ".join([self.distance.name, *options])
        spec = MetricSpec(f"{name}({arguments})", higher, "set", frozenset(needs))
        self.spec = replace(spec, **{**fitted_fields(self.distance), **fields})

    def signature(self) -> str:
        """Return the name, the options and the signature of the distance, such as
        ``semantic-entropy|0.3|cosine|minilm``.
        """
        return self._signature

    def cost(self, n: int, m: int, tokens: float, *, tested: bool = False) -> Cost:
        """Return the cost of the distances of all pairs; a distance may declare
        ``pair_seconds(tokens)``.
        """
        cost = super().cost(n, m, tokens, tested=tested)
        pairs = (n + m) ** 2

        declared: Callable[[float], float] | None = getattr(
            self.distance, "pair_seconds", None
        )
        seconds = declared(tokens) if declared is not None else 1e-7 * tokens

        return replace(
            cost,
            seconds=cost.seconds + seconds * pairs,
            bytes=cost.bytes + 30.0 * pairs,
        )

    def warm(self) -> None:
        """Start the first-use work of the distance, if it has any."""
        if isinstance(self.distance, Warms):
            self.distance.warm()
