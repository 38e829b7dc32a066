"""Corpus state of a metric that is composed of another one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.contracts import Features, Metric, finish_fit, merge_fits, partial_fit


class FitsInner:
    """Mixin of metrics whose corpus state is that of the metric ``inner``, in one pass or shard by shard."""

    inner: Metric

    def fit(self, references: Sequence[Sequence[str]], features: Features) -> Any:
        """Return the corpus state of the inner metric."""
        return self.inner.fit(references, features)

    def partial_fit(self, references: Sequence[Sequence[str]], features: Features) -> Any:
        """Return the part of the inner metric's corpus state that one shard contributes."""
        return partial_fit(self.inner, references, features)

    def merge_fits(self, first: Any, second: Any) -> Any:
        """Return the part of two shards together."""
        return merge_fits(self.inner, first, second)

    def finish_fit(self, merged_state: Any, features: Features) -> Any:
        """Return the corpus state of the merged parts."""
        return finish_fit(self.inner, merged_state, features)
