"""Accuracies of choices as arithmetic on arrays of option scores.

A choice is a row of scores with the correct option first. Every function counts a
choice as correct only where the correct option has a strictly higher score than each
other one, so that a model without preferences scores 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def mark_correct(rows: Sequence[np.ndarray]) -> np.ndarray:
    """Return 1.0 for each choice whose first option has the strictly highest score,
    else 0.0, shape (C,).

    Parameters
    ----------
    rows : sequence of ndarray
        Scores of the options of C choices, each of shape (m,) with m at least 2; NaN
        compares as not higher.

    Examples
    --------
    >>> rows = [-1.0, -2.0], [-1.0, -1.0], [-3.0, -4.0, -2.0]
    >>> mark_correct([np.array(row) for row in rows]).tolist()
    [1.0, 0.0, 0.0]
    """
    return np.array([float(bool(np.all(row[0] > row[1:]))) for row in rows])


def mark_unparsed(rows: Sequence[np.ndarray]) -> np.ndarray:
    """Return 1.0 for each choice whose options all have probability 0, as those of an
    answer that cannot be read, shape (C,).

    >>> mark_unparsed([np.array([-np.inf, -np.inf]), np.array([0.0, -np.inf])]).tolist()
    [1.0, 0.0]
    """
    return np.array([float(bool(np.isneginf(row).all())) for row in rows])


def chance(rows: Sequence[np.ndarray]) -> np.ndarray:
    """Return the probability 1 / m of a correct choice at random, shape (C,)."""
    return np.array([1.0 / len(row) for row in rows])


def shortest(lengths: Sequence[np.ndarray]) -> np.ndarray:
    """Return the credit of selecting the option with the fewest tokens, shape (C,),
    in [0, 1]; ties share it.

    Parameters
    ----------
    lengths : sequence of ndarray
        Numbers of tokens of the options of C choices, the correct one first.

    Examples
    --------
    >>> shortest([np.array([3, 4]), np.array([4, 3]), np.array([3, 3])]).tolist()
    [1.0, 0.0, 0.5]
    """
    credits: list[float] = []
    for row in lengths:
        is_shortest = row == row.min()
        credits.append(float(is_shortest[0]) / float(np.sum(is_shortest)))
    return np.array(credits)


def score_groups(scores: np.ndarray) -> dict[str, np.ndarray]:
    """Return text, image and group scores of groups of g captions and g images,
    each of shape (G,).

    Parameters
    ----------
    scores : ndarray
        Scores (G, g, g); entry (k, i, j) is that of caption j for image i, and caption
        i belongs to image i.

    Returns
    -------
    dict of str to ndarray
        ``text``: 1.0 where every image has its own caption as the best; ``image``: 1.0
        where every caption has its own image as the best; ``group``: both. Ties are
        wrong.

    References
    ----------
    Thrush et al. 2022, *Winoground: Probing Vision and Language Models for
    Visio-Linguistic Compositionality*, section 3.2.

    Examples
    --------
    >>> scores = np.array([[[-1.0, -6.0], [-5.0, -4.0]], [[-1.0, -2.0], [-3.0, -2.0]]])
    >>> {name: values.tolist() for name, values in score_groups(scores).items()}
    {'text': [1.0, 1.0], 'image': [1.0, 0.0], 'group': [1.0, 0.0]}
    """
    correct_scores = np.diagonal(scores, axis1=1, axis2=2)  # (G, g)
    others = ~np.eye(scores.shape[1], dtype=bool)
    text = np.where(others, correct_scores[:, :, None] > scores, True).all(axis=(1, 2))
    image = np.where(others, correct_scores[:, None, :] > scores, True).all(axis=(1, 2))

    return {
        "text": text.astype(float),
        "image": image.astype(float),
        "group": (text & image).astype(float),
    }


def arrange_groups(rows: Sequence[np.ndarray], size: int) -> np.ndarray:
    """Return choices as groups, shape (C / size, size, size),
    in the layout of :func:`score_groups`.

    Parameters
    ----------
    rows : sequence of ndarray
        Scores of C choices of ``size`` options: in the i-th choice of a group, caption
        i and then the others in their order.
    size : int
        Number g of choices of a group; C is a multiple of it.

    Examples
    --------
    >>> arrange_groups([np.array([1, 2]), np.array([4, 3])], 2).tolist()
    [[[1.0, 2.0], [3.0, 4.0]]]
    """
    out = np.empty((len(rows) // size, size, size))
    for number, row in enumerate(rows):
        group, image = divmod(number, size)
        out[group, image, option_order(image, size)] = row
    return out


def option_order(image: int, size: int) -> list[int]:
    """Return the captions in the order in which the choice of an image lists them:
    its own, then the others.

    >>> option_order(1, 3)
    [1, 0, 2]
    """
    return [image, *(k for k in range(size) if k != image)]
