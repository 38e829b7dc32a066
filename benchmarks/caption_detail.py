"""Detail of the captions of a run beside the other captions of their images, for the
figures of central captions in :mod:`benchmarks.study_tables`.

Chan et al. 2022 call central captions poor in detail, from examples. Detail is counted
here as the different words of a caption that are no function words, and as those of
them that no other caption of the image has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import scipy.stats

from harness.contracts import CaptionSet
from harness.run.finished import Run
from harness_metrics.embeddings.word_vector_mean import words
from harness_metrics.neural.wmd import STOPWORDS


def content_words(caption: str) -> set[str]:
    """Return the different words of a caption that are no function words."""
    return set(words(caption)) - STOPWORDS


def own_words(caption: str, others: Sequence[str]) -> int:
    """Return the number of content words of a caption that no other caption has."""
    return len(content_words(caption).difference(*map(words, others)))


DETAILS: dict[str, Callable[[CaptionSet], float]] = {
    "content words": lambda item: len(content_words(item.candidates[0])),
    "content words that no other caption has": lambda item: own_words(
        item.candidates[0], item.references
    ),
}
"""Measure of detail of a caption beside the others of its image -> function."""


def detail_test(run: Run, model: str, measure: Callable[[CaptionSet], float]) -> str:
    """Return the mean difference of a measure between a model and a person, with the p
    of a paired permutation test over examples.
    """
    of_model = {
        system.model: np.array([measure(item) for item in system.caption_sets()])
        for system in run.samples.systems
    }
    difference = of_model[model] - of_model["human"]
    test = scipy.stats.permutation_test(
        (difference,),
        np.mean,
        permutation_type="samples",
        n_resamples=9999,
        rng=np.random.default_rng(0),
    )
    return f"{difference.mean():+.3f}, {test.pvalue:.2g}"
