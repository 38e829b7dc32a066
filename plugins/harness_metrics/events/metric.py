"""Metrics ``trm-events`` and ``mmd-events``: do the events of a system come from where
those of the annotators come from?

A set of events, by one annotator or system, is one text of an example. The permutation
tests of a run relabel texts within examples, and so whole sets: single events are not
exchangeable, since those of one set divide a video among them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from harness import registry
from harness.contracts import (
    Batch,
    Cost,
    Distance,
    Embedding,
    Features,
    MeanMetric,
    MetricSpec,
    fitted_fields,
)
from harness.contracts.parameters import check_arguments
from harness.errors import HarnessError
from harness.stats import forms
from harness_metrics.dense.matched import overlap_function
from harness_metrics.events.joint import (
    ExampleEvents,
    PerExample,
    WordKernel,
    joint_distances,
    read_events,
    set_kernel,
)
from harness_metrics.events.set_triangles import forms_of_ranks, rank_shares_of_sets
from harness_metrics.kernel import geometry
from harness_metrics.trm.directions import statistic_of_direction

WORDS_OF_EVENT = 12.0
"""Words of an event with its place, for estimates of cost."""
TESTABLE_FROM = 5
"""Fewest videos with p-values: size and power are measured from here on
(``python -m benchmarks.event_tests``)."""


class EventSetMetric(MeanMetric):
    """Base of statistics of N sets of events that are sums over pairs of sets with
    different labels.

    Parameters
    ----------
    name : str
        Registered name.
    component : Distance or Embedding
        Distance or embedding of the words.
    overlap : str, optional
        Registered overlap; None: that of the kind of place.
    *options : str
        Further parts of the displayed name and the signature.
    **fields
        Further fields of the :class:`MetricSpec`.

    Raises
    ------
    HarnessError
        For a distance or embedding that is fitted on the references, which are sets of
        events here.
    """

    power = 2
    """Power of the number of events in the time of an example."""

    def __init__(
        self,
        name: str,
        component: Distance | Embedding,
        overlap: str | None,
        *options: str,
        **fields: Any,
    ) -> None:
        fitted = fitted_fields(component)
        if fitted.get("held_fixed"):
            raise HarnessError(
                f"{name}: '{component.name}' is fitted on the references of all "
                "examples, which are sets of events here; expected one that compares "
                "two texts alone, such as meteor, rouge or bert, or bow or minilm"
            )
        self.overlap = None if overlap is None else overlap_function(overlap)
        shown = [*options, *([] if overlap is None else [overlap])]
        self._signature = "|".join([name, *shown, component.signature()])
        spec = MetricSpec(
            f"{name}({', '.join([component.name, *shown])})",
            higher_is_better=False,
            level="set",
            needs=frozenset({"references", "events", *getattr(component, "needs", ())}),
        )
        testable_from = max(TESTABLE_FROM, fitted.get("testable_from", 0))
        self.spec = replace(
            spec, **{**fitted, **fields, "testable_from": testable_from}
        )

    def signature(self) -> str:
        """Return the name, the options and the signature of the distance or
        embedding.
        """
        return self._signature

    def cost(self, n: int, m: int, tokens: float, *, tested: bool = False) -> Cost:
        """Return the cost of all pairs, or triangles, of the events of n + m sets whose
        texts hold at most so many words.
        """
        events = (n + m) * tokens / WORDS_OF_EVENT
        return Cost(
            seconds=1e-4 * events + 2e-6 * events**2 + 1e-8 * events**self.power,
            bytes=300.0 * (n + m) * tokens + 64.0 * events**2,
            fixed=64.0 * events**2 + 5e7,
            advice="fewer events",
        )

    def set_forms(
        self, events: ExampleEvents, n: int, features: Features
    ) -> np.ndarray:
        """Return forms of the sets of an example, shape (F, N, N)."""
        raise NotImplementedError(f"{type(self).__name__} must define set_forms")

    def of_forms(self, values: np.ndarray) -> np.ndarray:
        """Return the statistic (B, P) of the values (B, F, P) of the forms."""
        raise NotImplementedError(f"{type(self).__name__} must define of_forms")

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the statistic of each example, shape (B,)."""
        # Each example alone: the digits of a product of matrices depend on the batch.
        values = [
            forms.identity(form, batch.n) for form in self._stack(batch, features)
        ]
        return self.of_forms(np.stack(values)[:, :, None])[:, 0]

    def null(
        self, batch: Batch, features: Features, state: Any, labels: np.ndarray
    ) -> np.ndarray:
        """Return the statistic of each example under labels (P, N) of whole sets,
        shape (B, P).
        """
        return self.of_forms(forms.evaluate(self._stack(batch, features), labels))

    def _stack(self, batch: Batch, features: Features) -> np.ndarray:
        """Return the forms of the examples, computed once, shape (B, F, N, N)."""
        key = ("event-forms", self._signature, batch.n)
        return features.memo(key, PerExample).stack(
            batch,
            lambda part: [
                self.set_forms(events, part.n, features)
                for events in read_events(part, features, self.spec.name)
            ],
        )


class TrmEvents(EventSetMetric):
    """Ranks of the triangles of events of three sets; lower is better.

    Each triangle has an event of three different sets, two of one side and one of the
    other. Where the system describes a video as its annotators do, each edge is as
    often the shortest as the others. It takes three sets: an example of one candidate
    and one reference is undefined.

    Parameters
    ----------
    distance : str, mapping or Distance
        A registered distance of the words that is not fitted on references. Events have
        the distance 1 - overlap x (1 - distance of the words).
    statistic : {'excess', 'q'}
        Share of the triangles whose two events of one side are the closest, less 1/3,
        in [-1/3, 2/3]; or Q of Chan et al., in [0, 4/3], which has no sign in a video
        and sees less.
    overlap : str, optional
        Registered overlap in place of that of the places.

    References
    ----------
    Chan et al. 2022, section 3.2; Liu & Modarres 2011. Sets as units:
    :mod:`harness_metrics.events.set_triangles`.
    """

    power = 3

    @check_arguments
    def __init__(
        self,
        *,
        distance: str | Mapping[str, Any] | Distance = "meteor",
        statistic: Literal["excess", "q"] = "excess",
        overlap: str | None = None,
    ) -> None:
        self.distance: Distance = registry.resolve("distances", distance)
        self.statistic = statistic
        is_q = statistic == "q"
        super().__init__(
            "trm-events",
            self.distance,
            overlap,
            *(["q"] if is_q else []),
            min_texts=3,
            bounds=(0.0, 4 / 3) if is_q else (-1 / 3, 2 / 3),
        )

    def set_forms(
        self, events: ExampleEvents, n: int, features: Features
    ) -> np.ndarray:
        """Return the forms of T_0, T_1 and T_2, shape (3, N, N)."""
        distances, sizes = joint_distances(
            events, self.distance, self.overlap, features
        )
        return forms_of_ranks(rank_shares_of_sets(distances, sizes))

    def of_forms(self, values: np.ndarray) -> np.ndarray:
        """Return the statistic, shape (B, P)."""
        if self.statistic == "q":
            # rounding of the shares may pass the largest value
            return np.minimum(statistic_of_direction(values), 4 / 3)
        return values[:, 0] / values.sum(axis=1) - 1 / 3


class MmdEvents(EventSetMetric):
    """Squared maximum mean discrepancy of sets of events, at least 0; lower is better.

    The kernel of two events is their overlap times a kernel of their words, that of two
    sets the cosine of their mean embeddings. With one candidate and one reference both
    labelings have one value, and the permutation p-value is 1.

    Parameters
    ----------
    embedding : str, mapping or Embedding
        A registered embedding of the words that is not fitted on references.
    kernel : {'cosine', 'gaussian'}
        Kernel of the words: the cosine of their vectors, or a Gaussian whose width is
        the median distance of two events of the example, which sees more of the cuts
        and less of the words.
    overlap : str, optional
        Registered overlap in place of that of the places.

    References
    ----------
    Gretton et al. 2012, *A Kernel Two-Sample Test*; Chan et al. 2022, section 3.3.
    """

    @check_arguments
    def __init__(
        self,
        *,
        embedding: str | Mapping[str, Any] | Embedding = "minilm",
        kernel: WordKernel = "cosine",
        overlap: str | None = None,
    ) -> None:
        self.embedding: Embedding = registry.resolve("embeddings", embedding)
        self.kernel: WordKernel = kernel
        options = [] if kernel == "cosine" else [kernel]
        # cosines may be negative
        super().__init__(
            "mmd-events", self.embedding, overlap, *options, bounds=(0.0, 4.0)
        )
        self.spec = replace(self.spec, needs=self.spec.needs | {"embeddings"})

    def set_forms(
        self, events: ExampleEvents, n: int, features: Features
    ) -> np.ndarray:
        """Return the form of MMD^2, shape (1, N, N)."""
        kernel = set_kernel(events, self.embedding, self.kernel, self.overlap, features)
        return geometry.two_sample_form(kernel[None], n, "biased")

    def of_forms(self, values: np.ndarray) -> np.ndarray:
        """Return MMD^2, shape (B, P); a value below 0 by rounding is 0."""
        return np.maximum(values[:, 0], 0.0)
