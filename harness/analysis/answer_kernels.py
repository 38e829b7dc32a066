"""Kernels and features of answers: what a test of two sources compares.

String kernels are matrices of all pairs of the answers to one prompt, with ones on the diagonal. Features are numbers of single answers,
which shifts that all prompts share are read from: lengths, formatting, refusals, and the most frequent n-grams.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

TOKEN = re.compile(r"\w+|[^\w\s]")
MOST_GRAMS = 200
"""Number of n-grams that are features: those in most answers."""
KERNELS = ("n-grams", "tokens", "characters", "overlap", "exact")
"""String kernels: cosine of n-gram counts (1 to 4), equal positions of tokens and of characters, shared n-grams (2 to 4), equality."""
REFUSAL = re.compile(
    r"\b(i(['’]m| am) (sorry|unable|not able)|i (cannot|can['’]t|won['’]t)|as an ai|i apologi[sz]e|unable to (help|assist))\b", re.IGNORECASE
)
"""Usual wording of a refusal in English."""
STYLE = {
    "length in words": lambda text, tokens: len(tokens),
    "length in characters": lambda text, tokens: len(text),
    "empty": lambda text, tokens: not text.strip(),
    "refusal": lambda text, tokens: bool(REFUSAL.search(text)),
    "begins with a capital": lambda text, tokens: text[:1].isupper(),
    "ends with a full stop": lambda text, tokens: text.rstrip().endswith("."),
    "punctuation marks": lambda text, tokens: sum(not token[0].isalnum() for token in tokens),
    "digits": lambda text, tokens: sum(map(str.isdigit, text)),
    "lines": lambda text, tokens: text.count("\n"),
    "Markdown": lambda text, tokens: bool(re.search(r"^\s*([#*-]|\d+\.) |\*\*|```", text, re.MULTILINE)),
    "repeated words": lambda text, tokens: len(tokens) - len(set(tokens)),
}
"""Features of the style of an answer: name -> function of the text and of its tokens."""


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
        words = {word: number for number, word in enumerate(dict.fromkeys(t for tokens in self.tokens for t in tokens), 1)}
        self._words = [np.array([words[token] for token in tokens], dtype=np.int64) for tokens in self.tokens]
        self._characters = [np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32) for text in texts]

    def kernels(self, names: Sequence[str], rows: np.ndarray) -> np.ndarray:
        """Return the named kernels of the texts of prompts, rows (b, N), shape (b, K, N, N)."""
        words, characters = _padded(self._words, rows), _padded(self._characters, rows)
        functions = {
            "characters": lambda: _hamming(characters),
            "tokens": lambda: _hamming(words),
            "n-grams": lambda: _gram_kernel(words, counted=True),
            "overlap": lambda: _gram_kernel(words, counted=False),
            "exact": lambda: (words[:, :, None] == words[:, None]).all(axis=3).astype(np.float64),
        }
        return np.stack([functions[name]() for name in names], axis=1)

    def features(self) -> tuple[list[str], np.ndarray]:
        """Return the names of the features and their values, shape (T, F); those without a difference between answers are left out."""
        style = [[float(function(text, tokens)) for function in STYLE.values()] for text, tokens in zip(self.texts, self.tokens)]
        grams = [
            {*tokens, *map(" ".join, zip(tokens, tokens[1:])), *(f"{token} …" for token in tokens[:1]), *(f"… {t}" for t in tokens[-1:])}
            for tokens in self.tokens
        ]
        frequency = Counter(gram for present in grams for gram in present)
        chosen = [gram for gram, count in frequency.most_common(2 * MOST_GRAMS) if 1 < count < len(grams)][:MOST_GRAMS]
        column = {gram: number for number, gram in enumerate(chosen, len(STYLE))}
        values = np.zeros((len(grams), len(STYLE) + len(chosen)))
        values[:, : len(STYLE)] = style
        for row, present in enumerate(grams):
            values[row, [column[gram] for gram in present if gram in column]] = 1.0
        varying = np.ptp(values, axis=0) > 0
        names = np.array([*STYLE, *(f"'{gram}'" for gram in chosen)])
        return names[varying].tolist(), values[:, varying]


def _padded(codes: Sequence[np.ndarray], rows: np.ndarray) -> np.ndarray:
    """Return the codes of texts, shape (b, N, L), with zeros behind the last one."""
    length = max((len(codes[row]) for row in rows.ravel()), default=0)
    out = np.zeros((*rows.shape, max(length, 1)), dtype=np.int64)
    flat = out.reshape(-1, out.shape[2])
    for position, row in enumerate(rows.ravel()):
        flat[position, : len(codes[row])] = codes[row]
    return out


def _hamming(codes: np.ndarray) -> np.ndarray:
    """Return the share of equal positions, of codes (b, N, L), shape (b, N, N); padding counts as equal."""
    return np.stack([(codes[:, [row]] == codes).mean(axis=2) for row in range(codes.shape[1])], axis=1)


def _gram_kernel(words: np.ndarray, *, counted: bool, order: int = 4) -> np.ndarray:
    """Return the cosine of the vectors of n-grams up to an order, of words (b, N, L), shape (b, N, N).

    ``counted`` takes the number of occurrences of all orders; otherwise presence of the orders from 2, as Self-BLEU counts matches.
    """
    from scipy.sparse import coo_array  # pyright: ignore[reportMissingTypeStubs]

    batch, size, length = words.shape
    text = np.broadcast_to(np.arange(batch * size).reshape(batch, size, 1), words.shape)
    hashes, keys, owners = np.zeros(words.shape, dtype=np.uint64), [], []
    for n in range(1, min(order, length) + 1):
        width = length - n + 1
        hashes = hashes[:, :, :width] * np.uint64(0x9E3779B97F4A7C15) + words[:, :, n - 1 :].astype(np.uint64)
        hashes = hashes ^ (hashes >> np.uint64(29))
        present = words[:, :, n - 1 :] > 0
        if counted or n > 1:
            prompt = (text[:, :, :width] // size).astype(np.uint64)
            keys.append(((hashes * np.uint64(0xBF58476D1CE4E5B9)) ^ (prompt * np.uint64(0x94D049BB133111EB)))[present])
            owners.append(text[:, :, :width][present])
    columns = np.unique(np.concatenate(keys), return_inverse=True)[1] if keys else np.zeros(0, dtype=np.int64)
    owner = np.concatenate(owners) if owners else columns
    vectors = coo_array((np.ones(len(owner)), (owner, columns)), shape=(batch * size, int(columns.max(initial=0)) + 1)).tocsr()
    if not counted:
        vectors.data[:] = 1.0
    products = (vectors @ vectors.T).tocoo()
    first, second = products.coords
    same = first // size == second // size
    out = np.zeros((batch, size, size))
    out[first[same] // size, first[same] % size, second[same] % size] = products.data[same]
    norms = np.sqrt(np.einsum("bii->bi", out))
    out /= np.maximum(norms[:, :, None] * norms[:, None], 1e-300)
    empty = norms == 0
    return np.where(empty[:, :, None] & empty[:, None], 1.0, out)
