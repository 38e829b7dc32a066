"""The reward of self-critical training (Rennie et al. 2017) with the calls of
``pyciderevalcap.ciderD.ciderD``: replace that import by
``from caption_kernels.drop_ins.self_critical import CiderD``.

New code is better served by :class:`caption_kernels.scorers.CiderD`, which also takes
arrays of token ids.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from caption_kernels import scorers
from caption_kernels.batches import ngram
from caption_kernels.coco.toolkit import Cider
from caption_kernels.scorers.df_table import ENDINGS, Table


class CiderD:
    """CIDEr-D of texts whose words are separated by blanks.

    Parameters
    ----------
    n : int
        Highest order of n-grams: 4.
    sigma : float
        Width of the length penalty: 6.
    df : str, path or Table
        ``corpus``: document frequencies of the references of each call, one document
        per candidate. Else a table, its file (``.npz``, ``.json``, ``.json.gz``), or
        the name of a file in the folder ``data``: for ``coco-train-idxs``, where the
        original program opens ``data/coco-train-idxs.p``, a table is read from
        ``data/coco-train-idxs.npz`` or ``.json``. Pickles are not opened: they can run
        code.

    Raises
    ------
    ValueError
        For another ``n`` or ``sigma``, or for a name that is no file of a table.
    """

    def __init__(
        self, n: int = 4, sigma: float = ngram.SIGMA, df: str | Path | Table = "corpus"
    ) -> None:
        if (n, sigma) != (ngram.ORDERS, ngram.SIGMA):
            raise ValueError(
                f"CiderD: n is {n!r} and sigma {sigma!r}; expected 4 and 6"
            )
        self._fitted: scorers.CiderD | None = None
        if isinstance(df, Table) or df != "corpus":
            table = df if isinstance(df, Table) else _find_table(df)
            self._fitted = scorers.CiderD(df=table, tokenizer="none")

    def compute_score(
        self, gts: Mapping[Any, list[str]], res: Sequence[Mapping[str, Any]]
    ) -> tuple[np.float64, np.ndarray]:
        """Return the mean over candidates, and the score of each, shape (N,).

        Parameters
        ----------
        gts : mapping
            Id -> references.
        res : sequence of mappings
            ``image_id``, and ``caption``: a list of one candidate. Several may have
            the same id.

        Raises
        ------
        AssertionError
            As the original program, for a caption that is no list of one text, and for
            references that are no list of texts.
        """
        for row in res:
            _check_row(row["image_id"], row["caption"], gts[row["image_id"]])
        candidates = [list(row["caption"]) for row in res]
        references = [list(gts[row["image_id"]]) for row in res]
        if self._fitted is None:
            return Cider().compute_score(
                dict(enumerate(references)), dict(enumerate(candidates))
            )
        scores = self._fitted.score([texts[0] for texts in candidates], references)
        return np.float64(np.mean(scores)), scores

    def method(self) -> str:
        """Return the name that the original program prints."""
        return "CIDEr-D"


def _check_row(
    image: object, candidates: Sequence[str], references: Sequence[str]
) -> None:
    """Raise AssertionError unless an image has one candidate in a list, and a list of
    references; the letters of a text would be taken for texts.
    """
    if isinstance(candidates, str) or len(candidates) != 1:
        raise AssertionError(
            f"image {image!r}: expected a list of one candidate, "
            f"found {candidates!r:.80}"
        )
    if isinstance(references, str) or not len(references):
        raise AssertionError(
            f"image {image!r}: expected a list of references, found {references!r:.80}"
        )


def _find_table(df: str | Path) -> Path:
    """Return the file of a table, or that of this name in the folder ``data``."""
    if str(df).endswith(ENDINGS):
        return Path(df)
    files = [Path("data", f"{df}{ending}") for ending in ENDINGS]
    file = next((file for file in files if file.is_file()), None)
    if file is None:
        raise ValueError(
            f"CiderD: df is {str(df)!r}; expected 'corpus' or a table of document "
            f"frequencies ({', '.join(map(str, files))}); docs/kernels.md has its form"
        )
    return file
