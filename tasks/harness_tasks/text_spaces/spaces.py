"""Distributions over all texts of one length, enumerated,
as in Table 1 of Li et al. (2020).

A text of L tokens from V words is a base-V number, the first token the most
significant; a distribution is an array ``(V**L,)``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.errors import InputError, require

UNIFORM = "uniform"
"""Value of ``sigma`` for the toy distribution of Figures 1 and 4: probabilities drawn
uniformly and normalised.
"""


def texts(vocabulary: int, length: int) -> np.ndarray:
    """Return the tokens of every text by number, of shape ``(V**L, L)``; raise
    :class:`InputError` for more than 2**16 texts.

    >>> texts(2, 2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    if vocabulary < 1 or length < 1 or vocabulary**length > 1 << 16:
        raise InputError(
            f"{vocabulary} words and length {length}: too many texts to enumerate, "
            "or none"
        )

    count: int = vocabulary**length
    index = np.arange(count)
    return np.stack(
        [index // vocabulary ** (length - 1 - k) % vocabulary for k in range(length)],
        axis=1,
    )


def ngram_distribution(
    p: np.ndarray, vocabulary: int, length: int, n: int
) -> np.ndarray:
    """Return the n-gram distribution, shape (V**n,), of a text distribution, the mean
    over the L - n + 1 positions.

    Parameters
    ----------
    p : ndarray
        Text distribution ``(V**L,)``.
    vocabulary, length, n : int
        V, L and n.

    Returns
    -------
    ndarray
        ``(V**n,)``, n-grams as base-V numbers.

    Raises
    ------
    InputError
        For an n that is not from 1 to L.
    """
    tokens = texts(vocabulary, length)
    positions = length - n + 1
    if n < 1 or positions < 1:
        raise InputError(f"texts of length {length} have no {n}-grams")

    powers = vocabulary ** np.arange(n - 1, -1, -1)
    out = np.zeros(vocabulary**n)
    for start in range(positions):
        # All positions of all texts, weighted by the probability of the text.
        out += np.bincount(tokens[:, start : start + n] @ powers, p, vocabulary**n)
    return out / positions


def bleu_table(vocabulary: int, length: int, order: int) -> np.ndarray:
    """Return BLEU of each text (first axis) against each two references, ``(T, T, T)``,
    T = V**L; no smoothing.
    """
    tokens = texts(vocabulary, length)
    count = len(tokens)
    logs = np.zeros((count, count, count))
    for n in range(1, order + 1):
        powers = vocabulary ** np.arange(n - 1, -1, -1)
        grams = np.stack(
            [tokens[:, k : k + n] @ powers for k in range(length - n + 1)], axis=1
        )

        counts = np.zeros((count, vocabulary**n), dtype=np.int16)
        np.add.at(counts, (np.arange(count)[:, None], grams), 1)
        # (T, T, grams): larger count of the two references
        clip = np.maximum(counts[:, None, :], counts[None, :, :])
        correct = np.stack(
            [np.minimum(counts[c], clip).sum(axis=2) for c in range(count)]
        )

        # without a common n-gram the logarithm is -inf and BLEU 0
        with np.errstate(divide="ignore"):
            logs += np.log(correct / (length - n + 1))
    return np.exp(logs / order)


def expected_bleu(q: np.ndarray, p: np.ndarray, table: np.ndarray) -> float:
    """Return the expected BLEU of a candidate from Q against two references from P,
    both ``(T,)``.
    """
    return float(np.einsum("c,r,s,crs->", q, p, p, table, optimize=True))


def expected_nsbleu(q: np.ndarray, table: np.ndarray) -> float:
    """Return minus the expected BLEU of a text from Q ``(T,)`` against two other texts
    from Q.
    """
    return -expected_bleu(q, q, table)


def check_sigma(sigma: Any, owner: str) -> float | str:
    """Return sigma; raise :class:`InputError` unless it is a number above 0 or
    ``uniform``.
    """
    if sigma == UNIFORM:
        return UNIFORM
    if isinstance(sigma, bool) or not isinstance(sigma, (int, float)) or not sigma > 0:
        raise InputError(
            f"{owner}: sigma is {sigma!r}; expected a number above 0, or uniform",
            parameter="sigma",
            value=sigma,
        )
    return sigma


def sigma_text(sigma: float | str) -> str:
    """Return sigma for signatures.

    >>> sigma_text(1.0), sigma_text("uniform")
    ('1', 'uniform')
    """
    return sigma if isinstance(sigma, str) else f"{sigma:g}"


def oracle(
    sigma: float | str,
    seed: int,
    *,
    vocabulary: int = 4,
    length: int = 3,
    hidden: int = 32,
) -> np.ndarray:
    """Return the text distribution of shape ``(V**L,)`` of an LSTM with random weights,
    or a random one.

    The first input is START, the initial state is zero, and there is no END.

    Parameters
    ----------
    sigma : float or "uniform"
        Standard deviation of the weights, drawn from N(0, sigma). ``uniform``: no LSTM;
        probabilities drawn uniformly and normalised.
    seed : int
        Seed of the weights.
    vocabulary, length : int, default 4 and 3
        V and L.
    hidden : int, default 32
        Size of embedding and state.

    Raises
    ------
    MissingExtra
        When torch is not installed.
    """
    if isinstance(sigma, str):
        rng = np.random.default_rng([seed, 0x70])
        weights = rng.random(len(texts(vocabulary, length)))
        return weights / weights.sum()

    torch: Any = require("torch", extra="models", needed_by="the synthetic oracle")
    generator = torch.Generator().manual_seed(seed)
    embedding = torch.nn.Embedding(vocabulary + 1, hidden, dtype=torch.float64)
    cell = torch.nn.LSTMCell(hidden, hidden, dtype=torch.float64)
    output = torch.nn.Linear(hidden, vocabulary, dtype=torch.float64)

    with torch.no_grad():
        for module in (embedding, cell, output):
            for weight in module.parameters():
                weight.normal_(0, sigma, generator=generator)

        # all texts at once, one token after the other
        tokens = torch.tensor(texts(vocabulary, length))
        state = None
        inputs = torch.full((len(tokens),), vocabulary)  # START
        logs = torch.zeros(len(tokens), dtype=torch.float64)
        for k in range(length):
            state = cell(embedding(inputs), state)
            log_probs = torch.log_softmax(output(state[0]), 1)
            logs += log_probs.gather(1, tokens[:, k : k + 1])[:, 0]
            inputs = tokens[:, k]
        p = torch.exp(logs).numpy()

    return p / p.sum()
