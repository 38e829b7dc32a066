"""Distributions over all texts of one length, small enough to enumerate: what Table 1 of Li et al. (2020) is about.

A text is a base-V number of its L tokens, the first one most significant; a distribution is an array (V**L,).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.errors import InputError


def texts(vocabulary: int, length: int) -> np.ndarray:
    """(V**L, L) tokens of every text, by index."""
    if vocabulary < 1 or length < 1 or vocabulary**length > 1 << 16:
        raise InputError(f"{vocabulary} words and length {length}: too many texts to enumerate, or none")
    index = np.arange(vocabulary**length)
    return np.stack([index // vocabulary ** (length - 1 - k) % vocabulary for k in range(length)], axis=1)


def ngram_distribution(p: np.ndarray, vocabulary: int, length: int, n: int) -> np.ndarray:
    """(V**n,) the n-grams that a text distribution induces: the mean over the L - n + 1 positions."""
    tokens = texts(vocabulary, length)
    positions = length - n + 1
    if n < 1 or positions < 1:
        raise InputError(f"texts of length {length} have no {n}-grams")
    powers = vocabulary ** np.arange(n - 1, -1, -1)
    out = np.zeros(vocabulary**n)
    for start in range(positions):
        out += np.bincount(tokens[:, start : start + n] @ powers, p, vocabulary**n)
    return out / positions


def bleu_table(vocabulary: int, length: int, order: int) -> np.ndarray:
    """(T, T, T) BLEU-order of a candidate (first axis) against two references, for all texts; no smoothing."""
    tokens = texts(vocabulary, length)
    count = len(tokens)
    logs = np.zeros((count, count, count))
    for n in range(1, order + 1):
        powers = vocabulary ** np.arange(n - 1, -1, -1)
        grams = np.stack([tokens[:, k : k + n] @ powers for k in range(length - n + 1)], axis=1)
        counts = np.zeros((count, vocabulary**n), dtype=np.int16)
        np.add.at(counts, (np.arange(count)[:, None], grams), 1)
        clip = np.maximum(counts[:, None, :], counts[None, :, :])  # (T, T, grams) the larger count of two references
        correct = np.stack([np.minimum(counts[c], clip).sum(axis=2) for c in range(count)])
        with np.errstate(divide="ignore"):
            logs += np.log(correct / (length - n + 1))
    return np.exp(logs / order)


def expected_bleu(q: np.ndarray, p: np.ndarray, table: np.ndarray) -> float:
    """Expected BLEU of one candidate from Q against two references from P."""
    return float(np.einsum("c,r,s,crs->", q, p, p, table, optimize=True))


def expected_nsbleu(q: np.ndarray, table: np.ndarray) -> float:
    """Minus the expected BLEU of one text from Q against two further ones from Q."""
    return -expected_bleu(q, q, table)


def unigram_bleu_pair(q: np.ndarray, p: np.ndarray, references: int, candidates: int) -> tuple[float, float]:
    """Expected BLEU and NSBLEU of texts of one word: sum Q (1 - (1 - P)^R) and -sum Q (1 - (1 - Q)^(C - 1))."""
    bleu = float(np.sum(q * (1 - (1 - p) ** references)))
    return bleu, -float(np.sum(q * (1 - (1 - q) ** (candidates - 1))))


def oracle(sigma: float, seed: int, *, vocabulary: int = 4, length: int = 3, hidden: int = 32) -> np.ndarray:
    """(V**L,) text distribution of an LSTM whose weights are all drawn from N(0, sigma): START input, zero state, no END."""
    from harness.errors import require

    torch: Any = require("torch", extra="models", needed_by="the synthetic oracle")
    generator = torch.Generator().manual_seed(seed)
    embedding = torch.nn.Embedding(vocabulary + 1, hidden, dtype=torch.float64)
    cell = torch.nn.LSTMCell(hidden, hidden, dtype=torch.float64)
    output = torch.nn.Linear(hidden, vocabulary, dtype=torch.float64)
    with torch.no_grad():
        for module in (embedding, cell, output):
            for weight in module.parameters():
                weight.normal_(0, sigma, generator=generator)
        tokens = torch.tensor(texts(vocabulary, length))
        state = None
        inputs = torch.full((len(tokens),), vocabulary)  # START
        logs = torch.zeros(len(tokens), dtype=torch.float64)
        for k in range(length):
            state = cell(embedding(inputs), state)
            logs += torch.log_softmax(output(state[0]), 1).gather(1, tokens[:, k : k + 1])[:, 0]
            inputs = tokens[:, k]
        p = torch.exp(logs).numpy()
    return p / p.sum()
