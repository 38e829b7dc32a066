"""Direction of the scores of a log: as the log declares it, else by a closed list of
names, else larger is better.

The list has names that mean a cost wherever they are used. A name that ends in *error*
or *distance*, or in a name of the list (``test_wer``, ``1-wer``), says neither: its
direction has to be typed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

COSTS = frozenset(
    [
        "wer",
        "cer",
        "ter",
        "perplexity",
        "ppl",
        "word_perplexity",
        "byte_perplexity",
        "bits_per_byte",
        "loss",
        "nll",
        "brier_score",
        "mae",
        "mse",
        "rmse",
        "latency",
    ]
)
"""Names of scores of which less is better. ``perplexity``, ``word_perplexity``,
``byte_perplexity``, ``bits_per_byte``, ``ter`` and ``brier_score`` are those that
lm-eval registers with ``higher_is_better=False``.
"""
UNCLEAR = re.compile(
    rf".*(error|distance)s?|.*[^a-z0-9]({'|'.join(sorted(COSTS))})", re.IGNORECASE
)
"""Names that may mean a cost or its opposite."""


@dataclass(frozen=True)
class Direction:
    """Direction of a score."""

    higher_is_better: bool | None
    """None: it has to be typed."""
    source: str = ""
    """Source of the direction; empty for the default, larger is better."""

    @property
    def note(self) -> str:
        """The direction with its source, such as ``lower is better (a known cost)``;
        empty without a source.
        """
        if self.higher_is_better is None or not self.source:
            return ""
        side = "higher" if self.higher_is_better else "lower"
        return f"{side} is better ({self.source})"


def direction_of_name(label: str) -> Direction:
    """Return the direction that the name of a metric has.

    The parts of a label, such as a scorer and its value in ``asr/wer`` or a metric and
    its filter, are names of their own.

    >>> (
    ...     direction_of_name("asr/WER").higher_is_better,
    ...     direction_of_name("acc").higher_is_better,
    ... )
    (False, True)
    >>> direction_of_name("edit_distance").higher_is_better is None
    True
    """
    names = [name.strip() for name in label.split("/")]
    if any(re.sub(r"[\s-]+", "_", name.lower()) in COSTS for name in names):
        return Direction(False, "a known cost")
    if any(UNCLEAR.fullmatch(name) for name in names):
        return Direction(None)
    return Direction(True)
