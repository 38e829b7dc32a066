"""Scorers that are fitted once and score many times, such as the reward of a captioner
that is trained on CIDEr-D.

>>> scorer = CiderD(references=[["a dog runs", "the dog"], ["a cat sat", "one cat"]])
>>> scorer.score(
...     ["a dog runs", "a cat"], [["a dog runs", "the dog"], ["a cat sat", "one cat"]]
... ).round(3).tolist()
[4.366, 2.627]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from caption_kernels import TextIndex, cider_idf
from caption_kernels.batches import ngram
from caption_kernels.scorers.df_table import Table, read_table

Df = str | Path | Table | Mapping[str, int]


@dataclass(frozen=True, eq=False)
class IndexedReferences:
    """References of B examples, indexed once and scored against many times; made by
    :meth:`Scorer.index_references`.
    """

    groups: list[tuple[np.ndarray, np.ndarray]]
    """Examples with the same number of references:
    their positions (b,) and gram rows (b, m).
    """
    size: int
    """Number of examples B."""


class Scorer:
    """Base class of the scorers; a text is a string,
    or with ``token_ids`` a sequence of token ids.

    Parameters
    ----------
    tokenizer : str
        ``ptb`` (default), or ``none`` for texts that are tokenised already.
    token_ids : bool
        Texts are sequences of whole numbers from 0 on.
    end : int, optional
        Token id that ends a text; what follows is not part of it.
    keep_end : bool
        Count the ``end`` token as a word, as many implementations of self-critical
        training do.
    """

    def __init__(
        self,
        *,
        tokenizer: str = "ptb",
        token_ids: bool = False,
        end: int | None = None,
        keep_end: bool = False,
    ) -> None:
        self._index = TextIndex("none" if token_ids else tokenizer)
        self._token_ids = token_ids
        self._end = -1 if end is None else end
        self._keep_end = keep_end

    def index_references(
        self, references: Iterable[Sequence[Any]]
    ) -> IndexedReferences:
        """Return the references of B examples in the form that :meth:`score` takes
        without work; they stay in memory.
        """
        examples = self._lists_of_texts(references)
        counts = np.array([len(texts) for texts in examples], dtype=np.int64)
        if len(counts) and counts.min() == 0:
            raise ValueError(f"example {int(counts.argmin())} has no reference")
        rows = self._gram_rows([text for texts in examples for text in texts])
        starts = np.cumsum(counts) - counts
        groups = []
        for m in np.unique(counts).tolist():
            positions = np.flatnonzero(counts == m)
            groups.append((positions, rows[starts[positions][:, None] + np.arange(m)]))
        return IndexedReferences(groups, len(examples))

    def score(
        self,
        candidates: Sequence[Any] | np.ndarray,
        references: Iterable[Sequence[Any]] | IndexedReferences,
    ) -> np.ndarray:
        """Return the score of each candidate against the references of its example.

        Candidates leave no trace: memory does not grow with the number of calls.

        Parameters
        ----------
        candidates : sequence
            One text per example, or n texts per example (a list of lists; token ids
            also as an array (B, L) or (B, n, L)).
        references : iterable of sequences, or IndexedReferences
            References of the B examples.

        Returns
        -------
        ndarray
            float64, shape (B,) for one text per example, else (B, n).

        Raises
        ------
        ValueError
            For different numbers of examples, or of candidates per example, and for
            references that are one text in place of a list.
        """
        if not isinstance(references, IndexedReferences):
            references = self.index_references(references)
        mark = self._index.mark()
        try:
            rows, single = self._candidate_rows(candidates)
            if len(rows) != references.size:
                raise ValueError(
                    f"{len(rows)} examples have candidates but {references.size} "
                    "have references"
                )
            out = np.empty(rows.shape)
            for positions, reference_rows in references.groups:
                out[positions] = self._score_rows(rows[positions], reference_rows)
        finally:
            self._index.rollback(mark)
        return out[:, 0] if single else out

    def _score_rows(self, hyp: np.ndarray, ref: np.ndarray) -> np.ndarray:
        """Return the scores (b, n) of gram rows (b, n) against gram rows (b, m)."""
        raise NotImplementedError

    def _candidate_rows(
        self, candidates: Sequence[Any] | np.ndarray
    ) -> tuple[np.ndarray, bool]:
        """Return the gram rows (B, n) of the candidates,
        and whether there is one text per example.
        """
        if self._token_ids and isinstance(candidates, np.ndarray):
            if candidates.ndim not in (2, 3):
                raise ValueError(
                    f"token ids of {candidates.ndim} dimensions; expected (B, L) "
                    "or (B, n, L)"
                )
            rows = self._index.gram_rows(
                self._add_tokens(candidates.reshape(-1, candidates.shape[-1]))
            )
            return rows.reshape(len(candidates), -1), candidates.ndim == 2

        examples = list(candidates)
        if not examples:
            return np.zeros((0, 1), dtype=np.int64), True

        # One candidate per example, or lists of equally many.
        single = not _is_nested(examples[0], self._token_ids)
        for k, example in enumerate(examples):
            if len(example) and _is_nested(example, self._token_ids) == single:
                raise ValueError(
                    f"example {k} has {'several texts' if single else 'one text'}, and "
                    f"those before it {'one text' if single else 'several texts'} each"
                )
        nested = [[text] for text in examples] if single else examples
        widths = {len(texts) for texts in nested}
        if len(widths) > 1:
            raise ValueError(
                f"examples with {min(widths)} and with {max(widths)} candidates; "
                "expected the same number"
            )

        return self._gram_rows([text for texts in nested for text in texts]).reshape(
            len(nested), -1
        ), single

    def _lists_of_texts(self, references: Iterable[Sequence[Any]]) -> list[list[Any]]:
        """Return the references of each example as a list; a text in place of a list
        is refused, as its letters would be taken for references.
        """
        examples: list[list[Any]] = []
        for k, texts in enumerate(references):
            example = list(texts)
            if example and not _is_nested(
                texts if isinstance(texts, str) else example, self._token_ids
            ):
                raise ValueError(
                    f"the references of example {k} are one text; "
                    "expected a list of texts"
                )
            examples.append(example)
        return examples

    def _gram_rows(self, texts: list[Any]) -> np.ndarray:
        rows = (
            self._add_token_lists(texts) if self._token_ids else self._index.add(texts)
        )
        return self._index.gram_rows(rows)

    def _add_tokens(self, tokens: np.ndarray) -> np.ndarray:
        """Return the rows (T,) of an array of token ids (T, L)."""
        starts = np.arange(len(tokens) + 1, dtype=np.int64) * tokens.shape[1]
        flat = np.ascontiguousarray(_checked_tokens(tokens), dtype=np.int64).ravel()
        return self._index.add_tokens(flat, starts, self._end, self._keep_end)

    def _add_token_lists(self, texts: list[Any]) -> np.ndarray:
        """Return the rows (T,) of sequences of token ids."""
        arrays = [_checked_tokens(np.asarray(text)) for text in texts]
        starts = np.cumsum([0, *(len(array) for array in arrays)])
        flat = np.concatenate([np.zeros(0, dtype=np.int64), *arrays]).astype(np.int64)
        return self._index.add_tokens(flat, starts, self._end, self._keep_end)


class CiderD(Scorer):
    """CIDEr-D in [0, 10]: the mean over references of the score of each candidate
    (Vedantam et al. 2015, section 4.2).

    Parameters
    ----------
    df : str, path, Table or mapping, optional
        Document frequencies: a table's file (``.json``, ``.json.gz``, ``.npz``), a
        table in memory, or n-grams (words joined by one blank) with their frequencies.
        With ``token_ids`` the words of the n-grams are token ids in decimal digits.
    references : iterable of sequences, optional
        In place of ``df``: references of all examples, one list per example, whose
        document frequencies are counted.
    documents : int, optional
        Number of documents of a mapping ``df``.
    tokenizer, token_ids, end, keep_end
        As in :class:`Scorer`.

    Raises
    ------
    ValueError
        Unless exactly one of ``df`` and ``references`` is given, and for a table that
        is damaged or has another tokeniser.
    """

    _clip = True

    def __init__(
        self,
        *,
        df: Df | None = None,
        references: Iterable[Sequence[Any]] | None = None,
        documents: int | None = None,
        tokenizer: str = "ptb",
        token_ids: bool = False,
        end: int | None = None,
        keep_end: bool = False,
    ) -> None:
        super().__init__(
            tokenizer=tokenizer, token_ids=token_ids, end=end, keep_end=keep_end
        )

        if (df is None) == (references is None):
            raise ValueError("expected either df or references")

        if references is not None:
            counts, total = self._count_documents(references)
        else:
            assert df is not None
            table = _table_of(df, documents, tokenizer)
            if (
                not isinstance(df, Mapping)
                and not token_ids
                and table.tokenizer != tokenizer
            ):
                raise ValueError(
                    f"the table's tokenizer is '{table.tokenizer}', "
                    f"but the scorer's is '{tokenizer}'"
                )
            ids = self._index.intern_grams(table.grams)
            counts = np.zeros(self._index.n_grams, dtype=np.int64)
            counts[ids] = table.counts
            total = table.documents

        self._idf = cider_idf(counts, float(total))
        self._unseen = ngram.unseen_idf(total)

    def _count_documents(
        self, references: Iterable[Sequence[Any]]
    ) -> tuple[np.ndarray, int]:
        """Return document frequencies (n_grams,) and the number of documents;
        the references stay indexed.
        """
        examples = self._lists_of_texts(references)
        if not examples:
            raise ValueError("no references")
        rows = self._gram_rows([text for texts in examples for text in texts])
        starts = np.cumsum([0, *(len(texts) for texts in examples)])
        return self._index.document_frequencies(rows, starts), len(examples)

    def _score_rows(self, hyp: np.ndarray, ref: np.ndarray) -> np.ndarray:
        return ngram.cider(
            self._index, self._idf, self._unseen, hyp, ref, clip=self._clip
        ).mean(axis=2)


class Cider(CiderD):
    """The original CIDEr, without clipped counts and length penalty, in [0, 10];
    parameters as in :class:`CiderD`.

    The COCO toolkit prints CIDEr-D under the name CIDEr.
    """

    _clip = False


class Bleu(Scorer):
    """Sentence BLEU in [0, 1] with the constants of the COCO toolkit.

    Parameters
    ----------
    n : int
        Highest n-gram order, 1 to 4.
    tokenizer, token_ids, end, keep_end
        As in :class:`Scorer`.
    """

    def __init__(self, n: int = 4, **texts: Any) -> None:
        if not 1 <= n <= ngram.ORDERS:
            raise ValueError(f"n is {n!r}; expected 1, 2, 3 or 4")
        super().__init__(**texts)
        self._n = n

    def _score_rows(self, hyp: np.ndarray, ref: np.ndarray) -> np.ndarray:
        lengths = ngram.row_lengths(self._index, hyp)
        closest = ngram.closest_lengths(lengths, ngram.row_lengths(self._index, ref))
        matches = ngram.clip_at_all(self._index, hyp, ref)
        return ngram.bleu(
            matches, ngram.count_guesses(lengths), lengths, closest, self._n
        )


def _is_nested(example: Any, token_ids: bool) -> bool:
    """Return True for an example of several texts."""
    if not token_ids:
        return not isinstance(example, str)
    return len(example) > 0 and not np.isscalar(example[0])


def _checked_tokens(tokens: np.ndarray) -> np.ndarray:
    if tokens.size and tokens.dtype.kind not in "iu":
        raise ValueError(f"token ids of type {tokens.dtype}; expected whole numbers")
    return tokens


def _table_of(df: Df, documents: int | None, tokenizer: str) -> Table:
    if isinstance(df, Table):
        return df
    if isinstance(df, Mapping):
        if documents is None or documents < 1:
            raise ValueError(
                "a mapping of frequencies needs the number of documents; "
                f"documents is {documents!r}"
            )
        return Table(
            list(df),
            np.fromiter(df.values(), dtype=np.int64, count=len(df)),
            documents,
            tokenizer,
        )
    return read_table(df)
