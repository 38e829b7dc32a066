"""English Snowball stems (Porter2) as meteor-1.5.jar computes them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import metadata

from harness.errors import HarnessError, require


def stems(words: list[str]) -> list[str]:
    """Return the stem of each word.

    Raises :class:`~harness.errors.MissingExtra` without snowballstemmer, :class:`HarnessError` for its version 3.

    >>> stems(["dogs", "running"])
    ['dog', 'run']
    """
    return _stemmer()(words)


def stem(word: str) -> str:
    """Return the stem of one word.

    >>> stem("generously")
    'generous'
    """
    return stems([word])[0]


@cache
def _stemmer() -> Callable[[list[str]], list[str]]:
    """Return the function that stems a list of words.

    It is Snowball's C library (PyStemmer) if installed, else snowballstemmer, which gives the same stems in Python and is sixty
    times slower. Only version 2 of either is used: version 3 stems 165 of 97,435 words differently from the jar.
    """
    module = require("snowballstemmer", needed_by="METEOR")
    version = str(getattr(module, "__version__", None) or metadata.version("snowballstemmer"))
    if _major(version) >= 3:
        raise HarnessError(f"METEOR needs snowballstemmer 2, found {version}: pip install 'snowballstemmer<3'")
    try:
        import Stemmer  # PyStemmer
    except ImportError:
        Stemmer = None
    if Stemmer is not None and _major(Stemmer.version()) == 2:
        return Stemmer.Stemmer("english", 0).stemWords
    from snowballstemmer.english_stemmer import EnglishStemmer  # stemmer("english") would use any PyStemmer

    return EnglishStemmer().stemWords


def _major(version: str) -> int:
    return int(version.split(".")[0])
