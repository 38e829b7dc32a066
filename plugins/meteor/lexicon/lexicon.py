"""METEOR's English word knowledge: function words, non-breaking prefixes, stems, synonym sets, paraphrases.

Everything comes from the installed pycocoevalcap (its jar is a zip; WordNet synonyms and the paraphrase table keep their own
licences and are not part of this package). The first use turns it into a folder of flat arrays under the user's cache
folder, later uses map them into memory: see :mod:`harness.plugins.meteor.lexicon.cache`.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import numpy as np

from harness.errors import HarnessError, require
from harness.plugins.meteor.lexicon.paraphrases import ParaphraseTable, parse_paraphrases
from harness.plugins.tokenisers.java_runtime import pycocoevalcap_file

_NEEDED_BY = "METEOR"
_SUFFIXES = (
    *(
        ("s", ""),
        ("ses", "s"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    *(("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    *(("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
)
"""WordNet's rules of detachment (morphy; Fellbaum 1998) for nouns, verbs and adjectives, in this order."""
_LAST_LETTERS = frozenset(suffix[-1] for suffix, _ in _SUFFIXES)


class Sources(NamedTuple):
    """The two files of pycocoevalcap that hold the data."""

    jar: Path
    paraphrases: Path


class Lexicon(NamedTuple):
    """What the matchers ask about words."""

    function_words: frozenset[str]
    prefixes: dict[str, bool]
    """Words after which a dot stays; True where it stays before a number only."""
    exceptions: dict[str, list[str]]
    """Irregular form -> base forms."""
    synset_rows: dict[str, int]
    """Word -> row of ``synset_starts``."""
    synset_starts: np.ndarray
    """(words + 1,) int32 bounds of each word's run in ``synset_ids``."""
    synset_ids: np.ndarray
    """int32, synonym sets numbered from 0, ascending per word."""
    n_synsets: int
    paraphrase_words: dict[str, int]
    """Word -> id in the paraphrase table."""
    paraphrases: ParaphraseTable

    def own_synsets(self, word: str) -> np.ndarray:
        """Synonym sets listed for exactly this word."""
        row = self.synset_rows.get(word)
        if row is None:
            return self.synset_ids[:0]
        return self.synset_ids[self.synset_starts[row] : self.synset_starts[row + 1]]

    def synsets(self, word: str) -> np.ndarray:
        """Synonym sets of a word and of its base forms, ascending int32."""
        own = self.own_synsets(word)
        others = [more for base in self.base_forms(word) if base != word and len(more := self.own_synsets(base))]
        return np.unique(np.concatenate([own, *others])) if others else own

    def synset_runs(self, words: list[str]) -> tuple[np.ndarray, np.ndarray]:
        """:meth:`synsets` of many words at once: (words + 1,) int64 bounds, and the sets end to end, int64."""
        owners: list[int] = []
        rows: list[int] = []
        for place, word in enumerate(words):
            for form in (word, *self.base_forms(word)):
                row = self.synset_rows.get(form)
                if row is not None:
                    owners.append(place)
                    rows.append(row)
        first = self.synset_starts[rows].astype(np.int64)
        counts = self.synset_starts[np.asarray(rows, dtype=np.int64) + 1] - first
        ends = np.cumsum(counts)
        ids = self.synset_ids[np.arange(counts.sum()) + np.repeat(first - ends + counts, counts)]
        keys = np.unique(np.repeat(np.asarray(owners, dtype=np.int64), counts) * self.n_synsets + ids)
        bounds = np.searchsorted(keys, np.arange(len(words) + 1) * self.n_synsets)
        return bounds, keys % max(self.n_synsets, 1)

    def base_forms(self, word: str) -> list[str]:
        """From the exception list when the word is on it, otherwise by the first suffix rule that gives a listed word.

        The tool takes ``-ful`` off first and puts it back behind the result, but no rule ends a word in ``-ful``, so that
        such a word has no base form.
        """
        if word in self.exceptions:
            return self.exceptions[word]
        if word.endswith("ss") or (len(word) <= 2 and len(word.encode("utf-16-le")) <= 4):
            return [word]
        if word[-1] not in _LAST_LETTERS:
            return []
        for suffix, ending in _SUFFIXES:
            if word.endswith(suffix) and (base := word[: -len(suffix)] + ending) in self.synset_rows:
                return [base]
        return []


def find_sources() -> Sources:
    """Paths of the data; one line of error names what is missing."""
    return Sources(
        pycocoevalcap_file("meteor", "meteor-1.5.jar", needed_by=_NEEDED_BY),
        pycocoevalcap_file("meteor", "data", "paraphrase-en.gz", needed_by=_NEEDED_BY),
    )


class SynonymData(NamedTuple):
    """Synonym sets as flat arrays: the words, and a run of set numbers for each."""

    words: list[str]
    starts: np.ndarray
    ids: np.ndarray


class JarData(NamedTuple):
    """What the jar holds for English."""

    function_words: list[str]
    prefixes: dict[str, bool]
    exceptions: dict[str, list[str]]
    synonyms: SynonymData


def read_jar(path: Path) -> JarData:
    """The English word lists of a ``meteor-1.5.jar``; raises :class:`HarnessError` when it is no such jar."""
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
    """The non-breaking prefixes alone, without the rest of the lexicon."""
    with zipfile.ZipFile(find_sources().jar) as jar:
        return _prefixes(_lines(jar, "nonbreaking/english.prefixes"))


def read_paraphrases(path: Path):
    """The paraphrase table of ``paraphrase-en.gz`` and its words; see :func:`parse_paraphrases`."""
    return parse_paraphrases(path)


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


def _synonyms(lines: list[str]) -> SynonymData:
    sets = {word: sorted({int(number) for number in numbers}) for word, numbers in _line_pairs(lines)}
    counts = np.fromiter(map(len, sets.values()), dtype=np.int64, count=len(sets))
    offsets = np.fromiter(
        (number for numbers in sets.values() for number in numbers), dtype=np.int64, count=counts.sum()
    )
    _, ids = np.unique(offsets, return_inverse=True)  # ranks keep the order inside each word
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return SynonymData(list(sets), starts, ids.astype(np.int32))


@cache
def _stemmer() -> Callable[[list[str]], list[str]]:
    """Stems of many words: by Snowball's C library (PyStemmer) where it is installed, else by snowballstemmer, which is the same in
    Python and sixty times slower. Of both only version 2 is taken: 3.x stems 165 of 97,435 words otherwise than the jar."""
    module = require("snowballstemmer", extra="text", needed_by=_NEEDED_BY)
    version = str(getattr(module, "__version__", None) or metadata.version("snowballstemmer"))
    if _major(version) >= 3:
        raise HarnessError(f"METEOR needs snowballstemmer 2, found {version}: pip install 'snowballstemmer<3'")
    try:
        import Stemmer  # PyStemmer
    except ImportError:
        Stemmer = None
    if Stemmer is not None and _major(Stemmer.version()) == 2:
        return Stemmer.Stemmer("english", 0).stemWords
    from snowballstemmer.english_stemmer import (
        EnglishStemmer,
    )  # by name: stemmer("english") takes any PyStemmer it finds

    return EnglishStemmer().stemWords


def _major(version: str) -> int:
    return int(version.split(".")[0])


def stems(words: list[str]) -> list[str]:
    """English Snowball stems (Porter2), as in the jar."""
    return _stemmer()(words)


def stem(word: str) -> str:
    """The stem of one word."""
    return stems([word])[0]
