"""English word lists of METEOR, read from the installed pycocoevalcap.

Its jar is a zip archive with function words, non-breaking prefixes and WordNet synonyms; the paraphrase table is a file of its own.
These data have their own licences and are not part of this package.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from harness.errors import HarnessError
from harness.plugins.tokenisers.java_runtime import pycocoevalcap_file

_NEEDED_BY = "METEOR"


class Sources(NamedTuple):
    """Paths of the two files of pycocoevalcap that hold the data."""

    jar: Path
    paraphrases: Path


def find_sources() -> Sources:
    """Return the paths of the data.

    Raises
    ------
    MissingExtra
        If pycocoevalcap is not installed.
    HarnessError
        If the installed package lacks one of the files.
    """
    return Sources(
        pycocoevalcap_file("meteor", "meteor-1.5.jar", needed_by=_NEEDED_BY),
        pycocoevalcap_file("meteor", "data", "paraphrase-en.gz", needed_by=_NEEDED_BY),
    )


class SynonymSets(NamedTuple):
    """Synonym sets of W words as flat arrays."""

    words: list[str]
    """The words, length W."""
    starts: np.ndarray
    """(W + 1,) int32 bounds of each word in ``ids``."""
    ids: np.ndarray
    """int32 set numbers from 0, ascending within each word."""


class JarData(NamedTuple):
    """English data of the jar."""

    function_words: list[str]
    prefixes: dict[str, bool]
    """Words after which a dot is no full stop; True if only before a number."""
    exceptions: dict[str, list[str]]
    """Irregular form -> base forms."""
    synonyms: SynonymSets


def read_jar(path: Path) -> JarData:
    """Return the English word lists of a ``meteor-1.5.jar``; raises :class:`HarnessError` if the file is not that jar."""
    try:
        with zipfile.ZipFile(path) as jar:
            return JarData(
                _lines(jar, "function/english.words"),
                _prefixes(_lines(jar, "nonbreaking/english.prefixes")),
                _exceptions(_lines(jar, "synonym/english.exceptions")),
                _synonyms(_lines(jar, "synonym/english.synsets")),
            )
    except (zipfile.BadZipFile, KeyError, UnicodeDecodeError, ValueError) as error:
        raise HarnessError(
            f"{path} is not the METEOR 1.5 jar ({error}): pip install --force-reinstall --no-deps pycocoevalcap"
        ) from error


@cache
def jar_prefixes() -> dict[str, bool]:
    """Return the non-breaking prefixes of the installed jar without reading the rest of the lexicon."""
    with zipfile.ZipFile(find_sources().jar) as jar:
        return _prefixes(_lines(jar, "nonbreaking/english.prefixes"))


def _lines(jar: zipfile.ZipFile, name: str) -> list[str]:
    return jar.read(name).decode("utf-8").replace("\r\n", "\n").removesuffix("\n").split("\n")


def _line_pairs(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    for head, tail in zip(lines[0::2], lines[1::2], strict=True):
        yield head, tail.split()


def _prefixes(lines: list[str]) -> dict[str, bool]:
    words = (line.split() for line in lines if line.strip() and not line.startswith("#"))
    return {first: "#NUMERIC_ONLY#" in rest for first, *rest in words}


def _exceptions(lines: list[str]) -> dict[str, list[str]]:
    bases: dict[str, list[str]] = {}
    for base, forms in _line_pairs(lines):
        for form in forms:
            bases.setdefault(form, []).append(base)
    return bases


def _synonyms(lines: list[str]) -> SynonymSets:
    sets = {word: sorted({int(number) for number in numbers}) for word, numbers in _line_pairs(lines)}
    counts = np.fromiter(map(len, sets.values()), dtype=np.int64, count=len(sets))
    offsets = np.fromiter(
        (number for numbers in sets.values() for number in numbers), dtype=np.int64, count=counts.sum()
    )
    _, ids = np.unique(offsets, return_inverse=True)  # ranks keep the order within each word
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return SynonymSets(list(sets), starts, ids.astype(np.int32))
