"""Corpus state of a metric that is composed of another one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.contracts import Cost, Features, Metric, cost_of, merge_states
from harness.stats.significance import untestable_reason


class FitsInner:
    """Mixin of metrics whose corpus state is that of the metric ``inner``,
    in one pass or shard by shard.
    """

    inner: Metric

    def fit(self, references: Sequence[Sequence[str]], features: Features) -> Any:
        """Return the corpus state of the inner metric."""
        return self.inner.fit(references, features)

    def merge(self, first: Any, second: Any) -> Any:
        """Return the corpus state of two shards together."""
        return merge_states(self.inner, first, second)

    def cost(self, n: int, m: int, tokens: float, *, tested: bool = False) -> Cost:
        """Return the cost of the inner metric."""
        return cost_of(self.inner, n, m, tokens, tested=tested)


def untestable_by(inner: Metric) -> str:
    """Return the reason why no permutation tests a metric that scores by another one;
    an empty text where one does.
    """
    reason = untestable_reason(inner)
    return f"scores captions by {inner.spec.name}, which {reason}" if reason else ""
