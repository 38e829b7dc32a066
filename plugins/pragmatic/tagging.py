"""Which words of a caption are singular nouns or adjectives, as the tagger of spaCy's small English model sees them.

The authors' script counts false words among those that spaCy tags NN or JJ. ``tagger.npz`` holds the tagger of ``en_core_web_sm`` 3.8.0
(Explosion, MIT licence): its four convolution layers and output layer, and its word vectors for 301 forms, the
A3DS words among them. On these words the tags are spaCy's; a word outside is given the vector of ``unk``, so that its neighbours
alone decide, and may be tagged otherwise than spaCy would.
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
"""Layers, and so tokens to each side that a tag depends on."""
_AT_ONCE = 256


class _Tagger(NamedTuple):
    rows: dict[str, int]
    vectors: np.ndarray
    """(words, 2, 96): before a blank, and before none."""
    layers: list[tuple[np.ndarray, ...]]
    output: np.ndarray
    bias: np.ndarray
    wanted: np.ndarray
    """(tags,) bool: NN or JJ."""


@cache
def _tagger() -> _Tagger:
    with np.load(Path(__file__).with_name("tagger.npz"), allow_pickle=False) as file:
        parts = {name: file[name].astype(np.float32) for name in file.files if name != "words"}
        words = file["words"].tolist()
    layers = [
        (w.reshape(-1, w.shape[-1]).T.copy(), b.ravel(), gain, shift)
        for w, b, gain, shift in zip(parts["weights"], parts["biases"], parts["gains"], parts["shifts"])
    ]
    rows = {word: row for row, word in enumerate(words)}
    return _Tagger(rows, parts["vectors"], layers, parts["output"].T.copy(), parts["bias"], parts["wanted"] > 0)


def nouns_and_adjectives(texts: Sequence[str]) -> list[list[str]]:
    """For each caption its words tagged NN or JJ, in order, as they are written."""
    found: dict[str, list[str]] = {}
    new = list(dict.fromkeys(texts))
    for start in range(0, len(new), _AT_ONCE):
        part = new[start : start + _AT_ONCE]
        found.update(zip(part, _tag(part)))
    return [found[text] for text in texts]


def _tag(texts: Sequence[str]) -> list[list[str]]:
    tagger = _tagger()
    tokens = [
        [(m.group(), m.end() < len(text) and text[m.end()].isspace()) for m in _TOKEN.finditer(text)] for text in texts
    ]
    gap = np.zeros((_REACH, tagger.vectors.shape[-1]), dtype=np.float32)
    parts: list[np.ndarray] = [gap]
    for row in tokens:
        if row:
            index = [_row(tagger.rows, word) for word, _ in row]
            parts.append(tagger.vectors[index, [0 if blank else 1 for _, blank in row]])
        parts.append(gap)
    chosen = tagger.wanted[(_convolve(np.concatenate(parts), tagger) @ tagger.output + tagger.bias).argmax(1)]
    out, at = [], _REACH
    for row in tokens:
        out.append([word for (word, _), keep in zip(row, chosen[at : at + len(row)]) if keep])
        at += len(row) + _REACH
    return out


def _row(rows: dict[str, int], word: str) -> int:
    found = rows.get(word)
    if found is None:
        found = rows.get(word.lower())
    return rows["unk"] if found is None else found


def _convolve(x: np.ndarray, tagger: _Tagger) -> np.ndarray:
    """(T, 96) -> (T, 96): windows of three, the largest of three maps, layer normalisation, added to what went in."""
    edge = np.zeros((1, x.shape[1]), dtype=np.float32)
    for weight, bias, gain, shift in tagger.layers:
        window = np.concatenate([np.concatenate([edge, x[:-1]]), x, np.concatenate([x[1:], edge])], axis=1)
        y = (window @ weight + bias).reshape(len(x), -1, 3).max(2)
        centred = y - y.mean(1, keepdims=True)
        x = x + centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-8) * gain + shift
    return x
