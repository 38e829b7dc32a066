"""Singular nouns and adjectives of captions,
by the tagger of spaCy's small English model.

The authors' script counts false words among those that spaCy tags NN or JJ.
``tagger.npz`` holds the tagger of ``en_core_web_sm`` 3.8.0 (Explosion, MIT licence):
four convolution layers, the output layer, and word vectors of 301 forms, among them the
words of A3DS. The tags of these words equal those of spaCy. Another word has the vector
of ``unk``; its tag depends on its neighbours alone and may differ from spaCy's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

_TOKEN = re.compile(r"[^\W_]+(?:'[^\W_]+)?|[^\w\s]")
_REACH = 4
"""Number of layers, and of tokens on each side that a tag depends on."""
_AT_ONCE = 256
"""Number of captions that are tagged together."""


class _Tagger(NamedTuple):
    """Weights of the tagger."""

    rows: dict[str, int]
    """Word -> row of ``vectors``."""
    vectors: np.ndarray
    """``(words, 2, 96)`` vectors before a blank and before no blank."""
    layers: list[tuple[np.ndarray, ...]]
    """Weight, bias, gain and shift of each convolution layer."""
    output: np.ndarray
    """``(96, tags)``."""
    bias: np.ndarray
    """``(tags,)``."""
    selected: np.ndarray
    """``(tags,)`` True for NN and JJ."""


@cache
def _tagger() -> _Tagger:
    """Return the weights of ``tagger.npz``."""
    with np.load(Path(__file__).with_name("tagger.npz"), allow_pickle=False) as file:
        weights = {
            name: file[name].astype(np.float32)
            for name in file.files
            if name != "words"
        }
        words = file["words"].tolist()

    layers: list[tuple[np.ndarray, ...]] = []
    for w, b, gain, shift in zip(
        weights["weights"], weights["biases"], weights["gains"], weights["shifts"]
    ):
        layers.append((w.reshape(-1, w.shape[-1]).T.copy(), b.ravel(), gain, shift))

    rows = {word: row for row, word in enumerate(words)}
    return _Tagger(
        rows,
        weights["vectors"],
        layers,
        weights["output"].T.copy(),
        weights["bias"],
        weights["wanted"] > 0,
    )


def nouns_and_adjectives(texts: Sequence[str]) -> list[list[str]]:
    """Return the words of each caption that are tagged NN or JJ,
    in order and in their original spelling.

    >>> nouns_and_adjectives(["a red ball on blue floor"])
    [['red', 'ball', 'blue', 'floor']]
    """
    tagged: dict[str, list[str]] = {}
    new = list(dict.fromkeys(texts))
    for start in range(0, len(new), _AT_ONCE):
        block = new[start : start + _AT_ONCE]
        tagged.update(zip(block, _tag(block)))
    return [tagged[text] for text in texts]


def _tag(texts: Sequence[str]) -> list[list[str]]:
    """Return the tagged words of a block of captions,
    which are separated by gaps of ``_REACH`` zero vectors.
    """
    tagger = _tagger()
    tokens: list[list[tuple[str, bool]]] = []
    for text in texts:
        row: list[tuple[str, bool]] = []
        for match in _TOKEN.finditer(text):
            end = match.end()
            row.append((match.group(), end < len(text) and text[end].isspace()))
        tokens.append(row)

    # Four layers of windows of three tokens reach four tokens to each side: gaps of
    # four zero vectors keep captions apart, and a block is one convolution.
    gap = np.zeros((_REACH, tagger.vectors.shape[-1]), dtype=np.float32)
    blocks: list[np.ndarray] = [gap]
    for row in tokens:
        if row:
            index = [_row(tagger.rows, word) for word, _ in row]
            without_blank = [0 if blank else 1 for _, blank in row]
            blocks.append(tagger.vectors[index, without_blank])
        blocks.append(gap)

    scores = _convolve(np.concatenate(blocks), tagger) @ tagger.output + tagger.bias
    selected = tagger.selected[scores.argmax(1)]

    out = list[list[str]]()
    at = _REACH
    for row in tokens:
        keep = selected[at : at + len(row)]
        out.append([word for (word, _), is_kept in zip(row, keep) if is_kept])
        at += len(row) + _REACH
    return out


def _row(rows: dict[str, int], word: str) -> int:
    """Return the row of a word, of its lower-case form, or of ``unk``."""
    return rows.get(word, rows.get(word.lower(), rows["unk"]))


def _convolve(x: np.ndarray, tagger: _Tagger) -> np.ndarray:
    """Return the output of the convolution layers for x ``(T, 96)``, of the same shape.

    A layer takes windows of three tokens, the maximum of three maps and layer
    normalisation, and adds its input.
    """
    edge = np.zeros((1, x.shape[1]), dtype=np.float32)
    for weight, bias, gain, shift in tagger.layers:
        before = np.concatenate([edge, x[:-1]])
        after = np.concatenate([x[1:], edge])
        window = np.concatenate([before, x, after], axis=1)
        y = (window @ weight + bias).reshape(len(x), -1, 3).max(2)

        # layer normalisation
        centred = y - y.mean(1, keepdims=True)
        spread = np.sqrt((centred**2).mean(1, keepdims=True) + 1e-8)
        x = x + centred / spread * gain + shift
    return x
