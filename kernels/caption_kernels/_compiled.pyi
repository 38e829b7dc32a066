"""
Compiled kernels of the text metrics; caption_kernels_reference has the same functions in Python.
"""

from collections.abc import Sequence

from typing_extensions import Buffer
from typing import Any

import numpy
from numpy.typing import ArrayLike, NDArray


build_hash: str

def log(x: ArrayLike) -> Any:
    """
    Return the natural logarithm of a number or of each number of a float64 array, with the same bits on every machine.
    """

def exp(x: ArrayLike) -> Any:
    """
    Return e to the power of a number or of each number of a float64 array, with the same bits on every machine.
    """

def sin(x: ArrayLike) -> Any:
    """
    Return the sine of a number or of each number of a float64 array, with the same bits on every machine; NaN beyond 2^20.
    """

def power(x: ArrayLike, y: float) -> Any:
    """
    Return a number or each number of a float64 array to the power of y, a number, with the same bits on every machine.
    """

def sum_law(laws: NDArray[numpy.float64], counts: NDArray[numpy.int64]) -> numpy.ndarray:
    """
    Return the law modulo the size, a power of two, of a sum of independent whole numbers: counts (designs,) of them have the laws (designs, size).
    """

def eigenvalues(matrices: NDArray[numpy.float64]) -> numpy.ndarray:
    """
    Return the eigenvalues (n, size), ascending, of symmetric finite matrices (n, size, size).
    """

class Tokenizer:
    """The Penn Treebank tokeniser of the COCO caption toolkit."""

    def __init__(self) -> None: ...

    def tokenize(self, texts: Sequence[str]) -> list[str]:
        """
        Return the tokens of each text in lower case, without the toolkit's punctuation, joined by one blank.
        """

    def tokens_raw(self, texts: Sequence[str]) -> list[list[str]]:
        """Return all tokens of each text in lower case."""

def stem(words: Sequence[str]) -> list[str]:
    """
    Return the stem of each lower-case word by the English Snowball stemmer (Porter2), version 2.
    """

class TextIndex:
    """
    Texts as rows of words and n-grams; see caption_kernels_reference.TextIndex.
    """

    def __init__(self, tokenizer: str = 'ptb') -> None: ...

    def add(self, texts: Sequence[str]) -> numpy.ndarray: ...

    def add_tokens(self, tokens: NDArray[numpy.int64], starts: NDArray[numpy.int64], end: int = -1, keep_end: bool = False) -> numpy.ndarray: ...

    def gram_rows(self, rows: NDArray[numpy.int64]) -> numpy.ndarray: ...

    def lengths(self, rows: NDArray[numpy.int64]) -> numpy.ndarray: ...

    def texts(self, rows: NDArray[numpy.int64]) -> list[str]: ...

    def entries(self, row: int) -> tuple[tuple[numpy.ndarray, numpy.ndarray], ...]: ...

    def intern_grams(self, grams: Sequence[str]) -> numpy.ndarray: ...

    def gram_texts(self) -> list[str]: ...

    def document_frequencies(self, rows: NDArray[numpy.int64], starts: NDArray[numpy.int64]) -> numpy.ndarray: ...

    def mark(self) -> tuple[int, int, int, int]: ...

    def __getstate__(self) -> tuple: ...

    def __setstate__(self, arg: tuple[str, object, NDArray[numpy.uint64]], /) -> None: ...

    def rollback(self, mark: tuple[int, int, int, int], keep_grams: bool = False) -> None: ...

    @property
    def n_rows(self) -> int: ...

    @property
    def n_grams(self) -> int: ...

    @property
    def n_words(self) -> int: ...

def clip_pairs(index: TextIndex, hyp: NDArray[numpy.int64], ref: NDArray[numpy.int64]) -> numpy.ndarray: ...

def clip_all(index: TextIndex, hyp: NDArray[numpy.int64], ref: NDArray[numpy.int64]) -> numpy.ndarray: ...

def bleu_scores(matches: NDArray[numpy.float64], guesses: NDArray[numpy.float64], lengths: NDArray[numpy.float64], reference_lengths: NDArray[numpy.float64], order: int) -> numpy.ndarray: ...

def bleu_relabel(index: TextIndex, rows: NDArray[numpy.int64], labels: NDArray[numpy.uint8], order: int) -> numpy.ndarray: ...

def lcs_pairs(index: TextIndex, hyp: NDArray[numpy.int64], ref: NDArray[numpy.int64]) -> numpy.ndarray: ...

def rouge_relabel(lcs: NDArray[numpy.int64], lengths: NDArray[numpy.int64], labels: NDArray[numpy.uint8], beta: float) -> numpy.ndarray: ...

def cider_pairs(index: TextIndex, idf: NDArray[numpy.float64], unseen: float, hyp: NDArray[numpy.int64], ref: NDArray[numpy.int64], clip: bool = True, sigma: float = 6.0) -> numpy.ndarray: ...

def cider_repetition(index: TextIndex, hyp: NDArray[numpy.int64], ref: NDArray[numpy.int64]) -> numpy.ndarray: ...

def cider_idf(frequencies: NDArray[numpy.int64], documents: float) -> numpy.ndarray: ...

def best_relabel(pairs: NDArray[numpy.float64], labels: NDArray[numpy.uint8]) -> numpy.ndarray: ...

class ParaphraseReader:
    """Reads METEOR's paraphrase table from blocks that end anywhere."""

    def __init__(self) -> None: ...

    def feed(self, data: Buffer) -> None:
        """Read the next block of the table, which may end anywhere."""

    def finish(self, words: Sequence[str]) -> tuple[numpy.ndarray, list[numpy.ndarray]]:
        """
        End the table; return numbers of words, also of words that it lacks, and the first sections of a lexicon.
        """

class Lexicon:
    """A lexicon in a buffer; opening checks its header and lengths."""

    def __init__(self, buffer: Buffer) -> None: ...

def normalise(texts: Sequence[str], lexicon: Lexicon) -> list[list[str]]:
    """
    Return the lower-case words of each text by METEOR's rules for punctuation.
    """

class MeteorTexts:
    """
    Texts prepared for METEOR's alignment; see caption_kernels_reference.MeteorTexts.
    """

    def __init__(self, lexicon: Lexicon) -> None: ...

    def intern(self, texts: Sequence[str]) -> numpy.ndarray: ...

    def add_rows(self, index: TextIndex, rows: NDArray[numpy.int64]) -> numpy.ndarray: ...

    def same_words(self, ids: NDArray[numpy.int64]) -> numpy.ndarray: ...

    def n_words(self, text: int) -> int: ...

    def align(self, text_starts: NDArray[numpy.int64], texts: NDArray[numpy.int64], pair_starts: NDArray[numpy.int64], hyps: NDArray[numpy.int32], refs: NDArray[numpy.int32], rows: NDArray[numpy.int64], start: int, stop: int, scores: NDArray[numpy.float64], statistics: NDArray[numpy.int32]) -> int: ...

def meteor_score(statistics: NDArray[numpy.float64]) -> numpy.ndarray: ...
