"""Small sources of METEOR's lexicon, and a number that needs all of it."""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType
from typing import Any

import numpy as np

from caption_kernels.batches import meteor

LISTS = {
    "function_words": "a\nthe\n.\n",
    "prefixes": "# titles\n\nMr\nNo #NUMERIC_ONLY#\nvs\nvs #NUMERIC_ONLY#\n"
    "ca #NUMERIC_ONLY#\nca\n",
    "exceptions": "go\nwent gone\nbe\nwent\n",
    "synsets": "go\n7 100\ndog\n30\nhound\n31 30 31\nbe\n8\nlady\n9\nlove\n5\n"
    "love\n6\n日本\n4\nnone\n\n",
}
PARAPHRASES = [
    ("a dog", "the dog"),
    ("a dog", "dog"),
    ("dog", "hound"),
    ("a dog", "an animal that barks"),
    ("the  dog", "a\tdog"),
    ("a dog", ""),
    ("unquestionably", "beyond doubt and reservation"),
]
WORDS = [
    "a",
    "the",
    "dog",
    "dogs",
    "went",
    "go",
    "be",
    "lady",
    "ladies",
    "love",
    "loved",
    "hound",
    "is",
    "日本",
    "日本s",
    "🐶s",
    "glass",
    "handfuls",
    "nones",
    "none",
    "Mr",
    "No",
    "x" * 99,
    "",
]


def table_of(pairs: Iterable[tuple[str, str]], end: str = "\n") -> bytes:
    """Return the text of a table of paraphrases: three lines per pair."""
    return (
        "\n".join(
            line for phrase, paraphrase in pairs for line in ("0.5", phrase, paraphrase)
        )
        + end
    ).encode()


def aligned(lexicon: Any, engine: ModuleType) -> meteor.Aligned:
    """Return the statistics of all pairs of texts that need all of a lexicon."""
    texts = engine.MeteorTexts(lexicon)
    ids = texts.intern(
        WORDS + [" ".join(side.split()) for pair in PARAPHRASES for side in pair]
    )
    return meteor.align_pairs(
        texts, ids[None], np.ones((len(ids),) * 2, dtype=bool), with_statistics=True
    )
