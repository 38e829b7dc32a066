"""Texts beyond the length of the models that read them: how many, and how many of
their tokens are not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from harness.contracts import CaptionSet, LimitsTexts, Metric

ROLES = ("embedding", "encoder")
"""Attributes of a metric, or of its distance, with the model that gets its texts."""


@dataclass
class _Cut:
    """Texts of one kind that a model cuts."""

    texts: int = 0
    tokens: int = 0


class CutTexts:
    """Count of the texts that the models of some metrics cut.

    Parameters
    ----------
    metrics : iterable of Metric
        The metrics.
    """

    def __init__(self, metrics: Iterable[Metric]) -> None:
        # metrics that name one model share it
        self._models = {
            model.signature(): model
            for metric in metrics
            for model in limited_models(metric)
        }
        self._cut = {
            (name, kind): _Cut()
            for name in self._models
            for kind in ("captions", "references")
        }

    def add(self, sets: Sequence[CaptionSet]) -> None:
        """Count the texts of caption sets."""
        texts = {
            "captions": [text for item in sets for text in item.candidates],
            "references": [text for item in sets for text in item.references],
        }
        for (name, kind), cut in self._cut.items():
            tokens = self._models[name].cut_tokens(texts[kind])
            cut.texts += int((tokens > 0).sum())
            cut.tokens += int(tokens.sum())

    def notes(self) -> Iterator[str]:
        """Yield one line for each model that cuts texts."""
        for name, model in self._models.items():
            counts = [
                f"{kind} that are longer: {cut.texts:,}; tokens of them that are not "
                f"read: {cut.tokens:,}"
                for (of_model, kind), cut in self._cut.items()
                if of_model == name and cut.texts
            ]
            if counts:
                yield f"{model.reads()}: {'; '.join(counts)}"


def limited_models(metric: object) -> Iterator[LimitsTexts]:
    """Yield the models of a metric, or of its distance, that read texts up to a length:
    those in the attributes :data:`ROLES`.
    """
    for owner in (metric, getattr(metric, "distance", None)):
        for role in ROLES:
            model = getattr(owner, role, None)
            # most metrics have none: to look at the members of None takes longest
            if model is not None and isinstance(model, LimitsTexts):
                yield model
