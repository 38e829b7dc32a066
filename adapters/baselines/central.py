"""The ``central`` baseline: the reference closest to the others, repeated (the bland captioner of Chan et al. 2022, appendix B.3)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from harness.adapters.human.adapter import divided, refuse_small
from harness.contracts import CaptionSet, Decoding, Distance, Example, Generation, TaskView
from harness.errors import HarnessError, InputError
from harness.registry import resolve
from harness.run.features import FeatureCache

BATCH = 512
DEFAULT_N = 10


class Central:
    """One safe caption, said again and again: mean-aggregated scores like it, distributional ones do not.

    distance: a name or ``{name: {params}}`` of the registry, or an instance. The default, ``cider``, needs neither weights nor
        Java. The caption chosen favours the metric of its own distance, so choose the one under study (``meteor`` for METEOR).
    n: how often it is repeated; else ``decoding.candidates``, else 10.
    held_out: take the central reference out of the references. The paper leaves it in, which is the default: its caption is
        then a perfect match of one reference.

    The central reference has the least mean distance to the others, itself as hypothesis; of equals the first. Corpus
    statistics of the distance come from the examples of the run.
    """

    def __init__(
        self, *, distance: str | Mapping[str, Any] | Distance = "cider", n: int | None = None, held_out: bool = False
    ) -> None:
        check_count(n, "central: n")
        self.distance: Distance = resolve("distances", distance)
        self.n = n
        self.held_out = held_out
        self._examples: Sequence[Example] = ()
        self._central: dict[str, int] | None = None

    def fingerprint(self) -> str:
        return f"central:{self.distance.signature()}|n={self.n}|held_out={self.held_out}"

    def prepare(self, task: TaskView) -> None:
        """Keep the examples, from which the distance learns; raise :class:`InputError` where none would be left as reference."""
        if self.held_out:
            refuse_small(task.examples, 2, "central", "hold one out", skip=False)
        self._examples, self._central = task.examples, None

    def generate(self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]) -> Iterator[Generation]:
        """The central reference ``n`` times; the references less it with ``held_out``, else all of them."""
        if self._central is None:
            self._central = central_references(self._examples, self.distance)
        times = self.n or decoding.candidates or DEFAULT_N
        for example in examples:
            if example.id not in self._central:
                raise HarnessError(f"central: the example '{example.id}' was not among those prepared")
            chosen = self._central[example.id]
            left = divided(example.references, [chosen]).references if self.held_out else example.references
            yield Generation((example.references[chosen],) * times, left)


def central_references(examples: Sequence[Example], distance: Distance) -> dict[str, int]:
    """Example id -> index of the reference with the least mean distance to the example's other references."""
    features = FeatureCache([example.references for example in examples])
    by_count: dict[int, list[Example]] = defaultdict(list)
    for example in examples:
        by_count[len(example.references)].append(example)
    found: dict[str, int] = {}
    for m, group in by_count.items():
        for start in range(0, len(group), BATCH):
            part = group[start : start + BATCH]
            if m == 1:
                found.update((example.id, 0) for example in part)
                continue
            # The distance sees sets of one "candidate" and m - 1 "references": only the m x m matrix matters.
            batch = features.batch([CaptionSet(e.id, e.references[:1], e.references[1:]) for e in part])
            # Sums of the same distances in another order may differ in the last digit: equals must stay equal.
            sums = features.distances(distance, batch).sum(axis=2).round(12)
            found.update((example.id, int(i)) for example, i in zip(part, np.argmin(sums, axis=1)))
            features.forget(batch)
    return found


def check_count(value: int | None, name: str, least: int = 1) -> None:
    """Raises :class:`InputError` unless ``value`` is None or a whole number of at least ``least``."""
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < least):
        raise InputError(f"{name} is {value!r}; expected a whole number of at least {least}")
