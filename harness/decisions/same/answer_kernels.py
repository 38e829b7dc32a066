"""Kernels and features of answers: what a test of two sources compares.

String kernels are matrices of all pairs of the answers to one prompt, with ones on the
diagonal. Features are numbers of single answers, which shifts that all prompts share
are read from: lengths, formatting, refusals, and the most frequent n-grams.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

TOKEN = re.compile(r"\w+|[^\w\s]")
MOST_GRAMS = 200
"""Number of n-grams that are features: those in most answers."""
KERNELS = ("n-grams", "tokens", "characters", "overlap", "exact")
"""String kernels: cosine of n-gram counts (1 to 4), equal positions of tokens and of
characters, shared n-grams (2 to 4), equality.
"""
REFUSAL = re.compile(
    r"\b(i(['’]m| am) (sorry|unable|not able)|i (cannot|can['’]t|won['’]t)|as an "
    r"ai|i apologi[sz]e|unable to (help|assist))\b",
    re.I,
)
"""Usual wording of a refusal in English."""
MARKDOWN = re.compile(r"^\s*([#*-]|\d+\.) |\*\*|```", re.MULTILINE)
STYLE = (
    "length in words",
    "length in characters",
    "empty",
    "refusal",
    "begins with a capital",
    "ends with a full stop",
    "punctuation marks",
    "digits",
    "lines",
    "Markdown",
    "repeated words",
)
"""Features of the style of an answer, in the order of :func:`_style`."""


def _style(text: str, tokens: Sequence[str]) -> list[float]:
    return [
        len(tokens),
        len(text),
        not text.strip(),
        bool(REFUSAL.search(text)),
        text[:1].isupper(),
        text.rstrip().endswith("."),
        sum(not token[0].isalnum() for token in tokens),
        sum(map(str.isdigit, text)),
        text.count("\n"),
        bool(MARKDOWN.search(text)),
        len(tokens) - len(set(tokens)),
    ]


class Answers:
    """Texts as numbers of characters and of tokens.

    Parameters
    ----------
    texts : sequence of str
        Answers of all prompts and sources.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self.tokens = [TOKEN.findall(text) for text in texts]

        # 0 pads the rows of shorter texts
        vocabulary = dict.fromkeys(token for tokens in self.tokens for token in tokens)
        words = {word: number for number, word in enumerate(vocabulary, 1)}
        self._words = [
            np.array([words[token] for token in tokens], dtype=np.int64)
            for tokens in self.tokens
        ]

        self._characters = [
            np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
            for text in texts
        ]

    def kernels(self, names: Sequence[str], rows: np.ndarray) -> np.ndarray:
        """Return the named kernels of the texts of prompts, rows (b, N), shape (b, K,
        N, N).
        """
        words = _pad_codes(self._words, rows)
        characters = _pad_codes(self._characters, rows)

        functions = {
            "characters": lambda: _hamming(characters),
            "tokens": lambda: _hamming(words),
            "n-grams": lambda: _gram_kernel(words, counted=True),
            "overlap": lambda: _gram_kernel(words, counted=False),
            "exact": lambda: (
                (words[:, :, None] == words[:, None]).all(axis=3).astype(np.float64)
            ),
        }

        if not names:
            return np.empty((len(rows), 0, *2 * rows.shape[1:]))
        return np.stack([functions[name]() for name in names], axis=1)

    def features(self) -> tuple[list[str], np.ndarray]:
        """Return the names of the features and their values, shape (T, F); those
        without a difference between answers are left out.
        """
        style = [_style(text, tokens) for text, tokens in zip(self.texts, self.tokens)]
        grams = [_grams(tokens) for tokens in self.tokens]

        # An n-gram of all answers, or of one alone, tells no two sources apart.
        frequency = Counter(gram for of_text in grams for gram in of_text)
        by_frequency = sorted(frequency.items(), key=lambda item: (-item[1], item[0]))
        columns = [gram for gram, count in by_frequency if 1 < count < len(grams)]
        columns = columns[:MOST_GRAMS]

        column = {gram: number for number, gram in enumerate(columns, len(STYLE))}
        values = np.zeros((len(grams), len(STYLE) + len(columns)))
        values[:, : len(STYLE)] = style
        for row, of_text in enumerate(grams):
            values[row, [column[gram] for gram in of_text if gram in column]] = 1.0

        varying = np.ptp(values, axis=0) > 0
        names = np.array([*STYLE, *(f"'{gram}'" for gram in columns)])
        return names[varying].tolist(), values[:, varying]


def _grams(tokens: Sequence[str]) -> set[str]:
    """Return the tokens of a text, pairs of them, and its first and last token marked
    as such.
    """
    ends = [f"{token} …" for token in tokens[:1]] + [
        f"… {token}" for token in tokens[-1:]
    ]
    return {*tokens, *map(" ".join, pairwise(tokens)), *ends}


def _pad_codes(codes: Sequence[np.ndarray], rows: np.ndarray) -> np.ndarray:
    """Return the codes of texts, shape (b, N, L), with zeros behind the last one."""
    indices: list[int] = rows.ravel().tolist()
    texts = [codes[row] for row in indices]
    out = np.zeros((len(texts), max(map(len, texts), default=0) or 1), dtype=np.int64)
    for row, text in zip(out, texts):
        row[: len(text)] = text
    return out.reshape(*rows.shape, -1)


def _hamming(codes: np.ndarray) -> np.ndarray:
    """Return the share of equal positions, of codes (b, N, L), shape (b, N, N);
    padding counts as equal.
    """
    return np.stack(
        [(codes[:, [row]] == codes).mean(axis=2) for row in range(codes.shape[1])],
        axis=1,
    )


def _gram_kernel(words: np.ndarray, *, counted: bool, order: int = 4) -> np.ndarray:
    """Return the cosine of the vectors of n-grams up to an order, of words (b, N,
    L), shape (b, N, N).

    ``counted`` takes the number of occurrences of all orders; otherwise presence of the
    orders from 2, as Self-BLEU counts matches.
    """
    from scipy.sparse import coo_array  # pyright: ignore[reportMissingTypeStubs]

    batch, size, length = words.shape
    at = np.indices(words.shape, sparse=False)
    text = at[0] * size + at[1]

    # An n-gram has a rolling hash, mixed as in SplitMix64; those of different prompts
    # are different columns.
    hashes = np.zeros(words.shape, dtype=np.uint64)
    keys = [np.zeros(0, dtype=np.uint64)]
    owners = [np.zeros(0, dtype=np.int64)]
    for n in range(1, min(order, length) + 1):
        width = length - n + 1
        last = words[:, :, n - 1 :]
        hashes = hashes[:, :, :width] * np.uint64(0x9E3779B97F4A7C15)
        hashes = hashes + last.astype(np.uint64)
        hashes = hashes ^ (hashes >> np.uint64(29))
        present = last > 0
        if counted or n > 1:
            prompt = (text[:, :, :width] // size).astype(np.uint64)
            of_gram = hashes * np.uint64(0xBF58476D1CE4E5B9)
            of_prompt = prompt * np.uint64(0x94D049BB133111EB)
            keys.append((of_gram ^ of_prompt)[present])
            owners.append(text[:, :, :width][present])

    columns = np.unique(np.concatenate(keys), return_inverse=True)[1]
    owner = np.concatenate(owners)
    vectors: Any = coo_array(
        (np.ones(len(owner)), (owner, columns)),
        shape=(batch * size, int(columns.max(initial=0)) + 1),
    ).tocsr()
    if not counted:
        vectors.data[:] = 1.0

    products = (vectors @ vectors.T).tocoo()
    first, second = products.coords
    out = np.zeros((batch, size, size))
    out[first // size, first % size, second % size] = products.data
    norms = np.sqrt(np.einsum("bii->bi", out))
    out /= np.maximum(norms[:, :, None] * norms[:, None], 1e-300)

    # Two texts without an n-gram are equal.
    empty = norms == 0
    return np.where(empty[:, :, None] & empty[:, None], 1.0, out)
