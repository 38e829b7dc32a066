"""Systems of a run: models under decodings, their captions,
and the names of their statistics.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np

from harness import __version__
from harness.contracts import CaptionSet, Decoding, Metric, Values, has_corpus_state
from harness.run.example_store import KEY_BYTES, ExampleStore
from harness.run.metric_plan import MetricPlan
from harness.run.provenance import code_of, kernels_build
from harness.run.reference_subsets import ReferenceSubset
from harness.run.score import scorable
from harness.rundir.answers import Row
from harness.rundir.artifact_key import ArtifactKey
from harness.rundir.records import changed_fields
from harness.spec.models import SignificanceSpec
from harness.spec.path_contents import component_with_contents
from harness.stats.name_order import restrict_order

FAILED = -1
"""Number of candidates of an example that the model could not process."""
_ARRAYS = ("candidate_counts", "reference_counts", "keys")
_ENCODER = json.JSONEncoder(sort_keys=True, ensure_ascii=True)


@dataclass(frozen=True, eq=False)
class PlannedSystem:
    """Captions of a model under a decoding, cut to set sizes: a row of the table of
    results while the run computes it.

    Sizes and keys are in memory, the texts in the artifacts of the run; systems that
    differ in their sizes alone share both. The :class:`~harness.rundir.samples.System`
    of a finished run is another type: rows of a table whose columns are read by name.
    """

    label: str
    """Label of the model."""
    store: ExampleStore
    start: int
    """First example."""
    candidate_counts: np.ndarray
    """Number of candidates of each example, int32, shape (B,): 0 for a permitted
    missing one, -1 for a failure.
    """
    reference_counts: np.ndarray
    """Number of references that each example has for scoring, int32, shape (B,)."""
    keys: np.ndarray
    """Key of each example's captions, uint8, shape (B, 16)."""
    rows: Callable[[int, int], list[Row]]
    """Returns the rows of the examples from a position to another."""
    failures: Mapping[str, str]
    """Example id -> reason, for the examples that failed."""
    missing: Sequence[str]
    """Ids of the examples without candidates that the user permits to be missing."""
    decoding: Decoding = field(default_factory=Decoding)
    references: int | None = None
    """Number of references that the sets are cut to; None: all."""
    largest: tuple[int | None, int | None] = (None, None)
    """Common numbers of candidates and references that the sets are cut to
    (``sizes: equal``); None: all.
    """
    subset_seed: int | None = None
    """Seed with which the references that count are drawn; None: the first ones count.
    """

    @classmethod
    def of_rows(
        cls,
        label: str,
        store: ExampleStore,
        rows: Sequence[Row],
        start: int = 0,
        read: Callable[[int, int], list[Row]] | None = None,
    ) -> PlannedSystem:
        """Return a system of the rows of consecutive examples; ``read`` returns rows
        later, None: those of the sequence.
        """
        candidate_counts: list[int] = []
        reference_counts: list[int] = []
        failures: dict[str, str] = {}
        missing: list[str] = []
        examples = store.slice(start, start + len(rows))
        for example, row in zip(examples, rows):
            if "failure" in row:
                failures[example.id] = str(row["failure"])
                candidate_counts.append(FAILED)
            else:
                count = len(cast("Sequence[str]", row["candidates"]))
                candidate_counts.append(count)
                if count == 0:
                    missing.append(example.id)
            own = cast("Sequence[str] | None", row.get("references"))
            reference_counts.append(len(example.references if own is None else own))

        keys = b"".join(map(_row_key, rows))
        return cls(
            label,
            store,
            start,
            np.array(candidate_counts, dtype=np.int32),
            np.array(reference_counts, dtype=np.int32),
            np.frombuffer(keys, dtype=np.uint8).reshape(-1, KEY_BYTES),
            read or (lambda first, last: list(rows[first - start : last - start])),
            failures,
            missing,
        )

    @classmethod
    def join(cls, blocks: Sequence[PlannedSystem]) -> PlannedSystem:
        """Return the blocks of one system, at least one, as the whole."""
        arrays = {
            name: np.concatenate([getattr(block, name) for block in blocks])
            for name in _ARRAYS
        }
        failures: dict[str, str] = {}
        missing: list[str] = []
        for block in blocks:
            failures |= block.failures
            missing += block.missing
        return replace(blocks[0], **arrays, failures=failures, missing=missing)

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def present(self) -> np.ndarray:
        """Mask of the examples with candidates, bool, shape (B,)."""
        return self.candidate_counts > 0

    @property
    def order(self) -> np.ndarray | None:
        """Order of the ids of the examples with candidates, in which they are
        resampled, shape (B,); None: the order that they have.
        """
        has_candidates = np.zeros(len(self.store), dtype=bool)
        has_candidates[self.start : self.start + len(self)] = self.present
        return restrict_order(self.store.order, has_candidates)

    def describe(self) -> Values:
        """Return the decoding as in result records."""
        cut = {} if self.references is None else {"references": self.references}
        return {**changed_fields(self.decoding), **cut}

    @property
    def cuts(self) -> tuple[int | None, int | None]:
        """Numbers of candidates and references that the sets are cut to; None: all."""
        n, m = self.largest
        return _smaller(n, self.decoding.candidates), _smaller(m, self.references)

    def sizes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of candidates and references of the examples with
        candidates, shapes (B,).
        """
        n, m = self.cuts
        candidates = self.candidate_counts[self.present]
        references = self.reference_counts[self.present]
        return (
            candidates if n is None else np.minimum(candidates, n),
            references if m is None else np.minimum(references, m),
        )

    def digest(self, start: int, stop: int) -> str:
        """Return a hash of the captions of the examples from ``start`` to ``stop``."""
        keys = self.keys[start - self.start : stop - self.start]
        return hashlib.sha256(keys.tobytes()).hexdigest()

    @property
    def subset(self) -> ReferenceSubset:
        """Choice of the references that count."""
        return ReferenceSubset(self.cuts[1], self.subset_seed)

    def caption_sets(
        self, start: int | None = None, stop: int | None = None, *, uncut: bool = False
    ) -> list[CaptionSet]:
        """Return the caption sets of the examples from ``start`` to ``stop`` that have
        candidates.

        ``uncut``: the largest sets (:attr:`largest`), whose first references are those
        of the cut ones.
        """
        first = self.start if start is None else start
        last = self.start + len(self) if stop is None else stop
        n, m = self.largest if uncut else self.cuts
        subset = self.subset
        sets: list[CaptionSet] = []
        for example, row in zip(self.store.slice(first, last), self.rows(first, last)):
            candidates = cast("Sequence[str] | None", row.get("candidates"))
            if not candidates:
                continue
            own = cast("Sequence[str] | None", row.get("references"))
            held_out = cast("Sequence[int] | None", row.get("held_out"))
            sets.append(
                CaptionSet(
                    example.id,
                    tuple(candidates[:n]),
                    subset.arrange(example, own, held_out)[:m],
                    example.media,
                    example.source,
                    example.meta,
                )
            )
        return sets

    def uncut_key(self, start: int, stop: int) -> tuple[int, bytes]:
        """Return a key that systems share whose uncut sets are equal."""
        subset = self.subset
        if subset.seed is None or subset.size is None:
            return id(self.keys), b""

        # References that are drawn stand in another order where there are more than
        # count.
        counts = self.reference_counts[start - self.start : stop - self.start]
        return id(self.keys), (counts > subset.size).tobytes()


def _row_key(row: Row) -> bytes:
    return hashlib.sha256(_ENCODER.encode(row).encode()).digest()[:KEY_BYTES]


def _smaller(first: int | None, second: int | None) -> int | None:
    """Return the smaller of two limits; None: there is no limit."""
    limits = [limit for limit in (first, second) if limit is not None]
    return min(limits, default=None)


class StatisticsKeys:
    """Names of the statistics of metrics, made of everything that they depend on."""

    def __init__(
        self, significance: SignificanceSpec, seed: int, corpus_key: str
    ) -> None:
        self._significance = significance
        self._seed = seed
        self._corpus_key = corpus_key
        self._of_metric: dict[str, tuple[Values, dict[str, str], str]] = {}

    def of(
        self,
        system: PlannedSystem,
        plan: MetricPlan,
        start: int,
        stop: int,
        examples: int | None,
    ) -> ArtifactKey:
        """Return the key of the statistics of a metric on the examples from ``start``
        to ``stop``.

        ``examples`` is the number of examples that the metric can score in the run,
        where its p-values depend on it.
        """
        if plan.label not in self._of_metric:
            corpus = self._corpus_key if has_corpus_state(plan.metric) else ""
            params = component_with_contents("metrics", plan.name, plan.params)
            self._of_metric[plan.label] = params, code_of([plan.metric]), corpus
        params, code, corpus = self._of_metric[plan.label]

        cuts = [system.decoding.candidates, system.references, *system.largest]
        return ArtifactKey.of(
            f"{system.label} {plan.label}",
            __version__,
            kernels_build(),
            plan.metric.signature(),
            params,
            code,
            self._significance.model_dump(),
            self._seed,
            [*cuts, *_draw(system)],
            examples,
            system.store.digest(start, stop),
            system.digest(start, stop),
            corpus,
        )


def _draw(system: PlannedSystem) -> list[str]:
    """Return a mark of references that are drawn; the names of other statistics are
    those of versions that took the first ones.
    """
    subset = system.subset
    return [] if subset.seed is None or subset.size is None else ["drawn"]


def scorable_examples(system: PlannedSystem, metric: Metric) -> int:
    """Return the number of examples of a system that a metric can score."""
    n, m = system.sizes()
    return int(np.count_nonzero(scorable(metric, n, m)))
