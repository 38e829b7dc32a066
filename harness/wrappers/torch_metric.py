"""Metrics as those of torchmetrics: ``update``, ``compute``, ``forward``,
``merge_state``, and synchronisation of processes.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import cache
from typing import Any

from harness.contracts import Parameters, TokenScores
from harness.contracts.parameters import Values
from harness.errors import require
from harness.run.text_scores import MetricResult
from harness.wrappers.accumulator import MetricName, WrappedMetric

_STATES = ("bytes", "lengths")


def as_torchmetric(
    metric: MetricName, /, *, sync: Parameters | None = None, **params: Any
) -> Any:
    """Return a metric as a :class:`torchmetrics.Metric`.

    ``update(predictions, references, media=None, sources=None, meta=None)`` adds
    examples: per example one text or a list of texts, and optionally its image, source
    text and metadata. ``compute()`` returns the corpus number as a tensor of float64
    without dimensions; a metric of level ``model`` takes ``update(scores)``, lists of
    :class:`~harness.contracts.TokenScores`, and returns a dict of tensors. ``result()``
    returns :class:`~harness.api.MetricResult` with the scores per example.

    The state is the texts of the examples, as bytes on the device of the metric.
    Processes of ``torch.distributed`` gather it in the order of their ranks, so that
    the number is that of one pass over all examples in this order; ``merge_state``
    appends the examples of another metric. A metric whose number does not depend on the
    order of examples gives the same number, up to the order of summation, for every
    division of the data.

    Parameters
    ----------
    metric : str, mapping or instance
        ``name``, ``name:parameter=value``, ``{name: parameters}``, or an instance.
    sync : mapping, optional
        Arguments of :class:`torchmetrics.Metric`: ``dist_sync_on_step``,
        ``process_group``, ``sync_on_compute``, ...
    **params
        Parameters of a metric that is given by its bare name.

    Raises
    ------
    MissingExtra
        If torchmetrics is not installed.
    HarnessError
        For an unknown metric or parameter.

    Examples
    --------
    >>> cider = as_torchmetric("cider")  # doctest: +SKIP
    >>> cider.update(
    ...     ["a dog runs"], [["a dog runs fast", "the dog runs"]]
    ... )  # doctest: +SKIP
    >>> cider.update([["a cat", "one cat"]], [["a cat sits"]])  # doctest: +SKIP
    >>> round(float(cider.compute()), 4)  # doctest: +SKIP
    3.4451
    """
    from harness.registry.torchvision_guard import guard_torchvision

    guard_torchvision()
    require("torchmetrics", needed_by="as_torchmetric", extra="torchmetrics")
    wrapped = WrappedMetric.create(metric, params)
    return _class_of(wrapped.higher_is_better)(wrapped, dict(sync or {}))


def _again(source: MetricName, params: Parameters, sync: Parameters) -> Any:
    """Return a new metric, for copies and other processes."""
    return as_torchmetric(source, sync=sync, **params)


class _ExampleTensors:
    """Examples as tensors, and their number: what a metric of torchmetrics computes,
    without its base class.
    """

    wrapped: WrappedMetric
    bytes: list[Any]
    """Texts of the examples, as tensors of uint8."""
    lengths: list[Any]
    """Number of bytes of each text, as tensors of int64."""
    device: Any

    def __repr__(self) -> str:
        return f"CaptionMetric({self.wrapped.label})"

    def update(
        self,
        predictions: Sequence[Any],
        references: Sequence[Any] | None = None,
        **fields: Any,
    ) -> None:
        """Add examples."""
        if references is None and not self.wrapped.takes_captions:
            scores: Sequence[Sequence[TokenScores]] = predictions
            rows = self.wrapped.token_rows(scores)
        else:
            rows = self.wrapped.caption_rows(predictions, references or [], **fields)
        if not rows:
            return

        torch = importlib.import_module("torch")
        contents = [row.encode("utf-8") for row in rows]
        # a bytearray, because torch warns of a buffer that cannot be written
        joined = torch.frombuffer(bytearray(b"".join(contents)), dtype=torch.uint8)
        self.bytes.append(joined.to(self.device))
        sizes = [len(content) for content in contents]
        self.lengths.append(torch.tensor(sizes, device=self.device))

    def compute(self) -> Any:
        """Return the number over all examples, or a dict of numbers."""
        torch = importlib.import_module("torch")
        result = self.wrapped.result(self._rows())
        if isinstance(result, dict):
            return {
                name: torch.tensor(value, dtype=torch.float64)
                for name, value in result.items()
            }
        return torch.tensor(result.value, dtype=torch.float64)

    def _rows(self) -> list[str]:
        return _texts(_concatenate(self.bytes), _concatenate(self.lengths))


@cache
def _class_of(direction: bool | None) -> Any:
    """Return the class of metrics of one direction:
    torchmetrics reads it from the class.
    """
    torch = importlib.import_module("torch")
    torchmetrics = importlib.import_module("torchmetrics")

    class CaptionMetric(_ExampleTensors, torchmetrics.Metric):
        """A metric of the harness as one of torchmetrics."""

        is_differentiable = False
        higher_is_better = direction
        full_state_update = False

        def __init__(self, wrapped: WrappedMetric, sync: Values) -> None:
            super().__init__(**sync)
            self.wrapped = wrapped
            self._sync_arguments = sync
            for name in _STATES:
                self.add_state(name, default=[], dist_reduce_fx="cat")

        def __reduce__(self) -> Any:
            values: Any = self.__getstate__()
            # the metric is created again from its texts: it need not be picklable
            state = {key: value for key, value in values.items() if key != "wrapped"}
            return (
                _again,
                (self.wrapped.source, self.wrapped.parameters, self._sync_arguments),
                state,
            )

        def result(self) -> MetricResult | dict[str, float]:
            """Return the result with the scores per example,
            over the examples of all processes.
            """
            with self.sync_context(
                dist_sync_fn=self.dist_sync_fn,
                should_sync=self._to_sync,
                should_unsync=self._should_unsync,
            ):
                return self.wrapped.result(self._rows())

        def merge_state(self, incoming_state: Any) -> None:
            """Append the examples of another metric, or of a state dict,
            after those of this one.
            """
            before = {name: list(getattr(self, name)) for name in _STATES}
            super().merge_state(incoming_state)
            for name, values in before.items():  # torchmetrics puts the other's first
                merged = getattr(self, name)
                setattr(self, name, [*values, *merged[: len(merged) - len(values)]])

        def _sync_dist(self, *args: Any, **kwargs: Any) -> None:
            # a process without examples sends tensors of the same kind
            for name, kind in zip(_STATES, (torch.uint8, torch.int64)):
                if not getattr(self, name):
                    empty = torch.zeros(0, dtype=kind, device=self.device)
                    setattr(self, name, [empty])
            super()._sync_dist(*args, **kwargs)

    return CaptionMetric


def _texts(content: Any, lengths: Any) -> list[str]:
    """Return the texts of the joined bytes and of their lengths."""
    ends = lengths.cumsum(0).tolist()
    data = bytes(content.cpu().numpy())
    return [data[start:end].decode("utf-8") for start, end in zip([0, *ends], ends)]


def _concatenate(tensors: Any) -> Any:
    """Return the parts of a state as one tensor of one dimension."""
    torch = importlib.import_module("torch")
    # after a synchronisation the state is one tensor
    if not isinstance(tensors, (list, tuple)):
        return tensors
    return torch.cat(list(tensors)) if tensors else torch.zeros(0, dtype=torch.int64)
