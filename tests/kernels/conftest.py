"""A lexicon of METEOR that is small enough to be built in every test session,
and a real browser.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from caption_kernels.lexicon.file_format import finish_lexicon
from caption_kernels.lexicon.word_lists import read_lists
from tests.support.browser import browse

__all__ = ["browse", "new_meteor_texts"]

PARAPHRASES = [
    ("a dog", "the dog"),
    ("a dog", "dog"),
    ("dog", "hound"),
    ("hound", "dog"),
    ("a dog", "an animal that barks"),
    ("the dog", "a dog"),
    ("a dog", "the dog"),  # listed twice
    ("in front of", "before"),
    ("in front of the", "before"),
    ("before", "in front of"),
    ("front of", "before the"),
    ("on top of", "over"),
    ("over", "on"),
    ("the", "a"),
]


@pytest.fixture(scope="session")
def new_meteor_texts() -> Callable[[ModuleType], Any]:
    """Return a function that makes an empty ``MeteorTexts`` of an engine,
    over the small lexicon.
    """
    buffers: dict[str, Any] = {}

    def make(engine: ModuleType) -> Any:
        if engine.__name__ not in buffers:
            table = engine.ParaphraseReader()
            for one, other in PARAPHRASES:
                table.feed(f"0.5\n{one}\n{other}\n".encode())
            lists = read_lists(
                function_words=b"a\nthe\n.\nin\nof\n",
                prefixes=b"# titles\nMr\nNo #NUMERIC_ONLY#\n",
                exceptions=b"go\nwent gone\nbe\nwent is\n",
                synsets=b"go\n7 100\ndog\n30\nhound\n30 31\nbe\n8\nlady\n9\nlove\n5\n"
                b"puppy\n31\nrun\n7 12\npark\n40\n",
            )
            buffers[engine.__name__] = finish_lexicon(table, lists)
        return engine.MeteorTexts(engine.Lexicon(buffers[engine.__name__]))

    return make
