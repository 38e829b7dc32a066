"""Synonyms of English words by the files of WordNet 3.0, which are no part of this
package.

The files are those of Princeton's distribution (``index.noun``, ``data.noun``,
``noun.exc``, ..., wndb(5WN), morphy(7WN)), as Debian's wordnet-base and the corpus
``wordnet`` of NLTK have them. Synonyms are those that NLTK's METEOR asks for: single
words of all senses, with their capitals.
"""

from __future__ import annotations

import hashlib
import os
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from harness.errors import HarnessError, MissingExtra
from harness.files.user_path import user_path

RULES: Mapping[str, Sequence[tuple[str, str]]] = {
    "noun": (
        ("s", ""),
        ("ses", "s"),
        ("ves", "f"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "verb": (
        ("s", ""),
        ("ies", "y"),
        ("es", "e"),
        ("es", ""),
        ("ed", "e"),
        ("ed", ""),
        ("ing", "e"),
        ("ing", ""),
    ),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
}
"""Rules of detachment by part of speech, morphy(7WN)."""
FILES = tuple(
    name for part in RULES for name in (f"index.{part}", f"data.{part}", f"{part}.exc")
)
PLACES = (
    "/usr/share/wordnet",
    "/usr/local/share/wordnet",
    "~/nltk_data/corpora/wordnet",
    "/usr/share/nltk_data/corpora/wordnet",
    "/usr/local/share/nltk_data/corpora/wordnet",
)
"""Folders of Debian and NLTK."""
_VERSION = re.compile(rb"WordNet (\d+\.\d+)")


class WordNet:
    """Words and their sets of synonyms.

    Parameters
    ----------
    files : mapping
        Content of :data:`FILES` by name.

    Raises
    ------
    HarnessError
        For files of another form.
    """

    def __init__(self, files: Mapping[str, bytes]) -> None:
        key = hashlib.sha256(b"".join(files[name] for name in FILES)).hexdigest()
        version = _VERSION.search(files["data.noun"][:4096])
        if version is None:
            raise HarnessError(
                "WordNet: 'data.noun' names no version at its beginning; expected the "
                "files of WordNet 3.0"
            )
        self.signature = f"wordnet-{version[1].decode()}-{key[:8]}"
        self._files = files
        self._offsets = {part: _read_index(files[f"index.{part}"]) for part in RULES}
        self._irregular = {part: _read_pairs(files[f"{part}.exc"]) for part in RULES}

    def synonyms(self, word: str) -> frozenset[str]:
        """Return the single words of all senses of a word, and the word."""
        synonyms = {word}
        for part, offsets in self._offsets.items():
            for form in self._base_forms(word.lower(), part):
                for offset in offsets[form]:
                    words = self._words_at(part, offset)
                    synonyms.update(other for other in words if "_" not in other)
        return frozenset(synonyms)

    def _base_forms(self, word: str, part: str) -> list[str]:
        """Return the forms of a word that are entries of a part of speech: irregular
        ones, else those that the rules leave when they are applied once, or else as
        often as it takes.
        """
        irregular = self._irregular[part].get(word)
        if irregular is not None:
            return self._entries([word, *irregular], part)
        forms = [word]
        entries: list[str] = []
        while forms and not entries:
            forms = [
                form.removesuffix(ending) + base
                for form in forms
                for ending, base in RULES[part]
                if form.endswith(ending)
            ]
            entries = self._entries([word, *forms], part)
        return entries

    def _entries(self, forms: Sequence[str], part: str) -> list[str]:
        offsets = self._offsets[part]
        return [form for form in dict.fromkeys(forms) if form in offsets]

    def _words_at(self, part: str, offset: int) -> list[str]:
        """Return the words of a set of synonyms: behind their number, in hexadecimal,
        each with a number of its own; adjectives may have a mark in brackets.
        """
        content = self._files[f"data.{part}"]
        line = content[offset : content.find(b"\n", offset)].decode("latin-1")
        _, _, _, count, *fields = line.split(" ")
        words = fields[: 2 * int(count, 16) : 2]
        return [word.partition("(")[0] for word in words]


def _read_index(content: bytes) -> dict[str, tuple[int, ...]]:
    """Return word -> places of its sets of synonyms in the data file."""
    entries: dict[str, tuple[int, ...]] = {}
    for line in _lines(content):
        word, _, _, pointers, *fields = line.split()
        # kinds of pointers, and two counts of senses, stand before the places
        entries[word] = tuple(map(int, fields[int(pointers) + 2 :]))
    return entries


def _read_pairs(content: bytes) -> dict[str, list[str]]:
    """Return irregular form -> its base forms."""
    pairs: dict[str, list[str]] = {}
    for line in _lines(content):
        form, *bases = line.split()
        pairs[form] = bases
    return pairs


def _lines(content: bytes) -> Iterator[str]:
    """Yield the lines behind the licence, whose lines begin with a blank."""
    for line in content.decode("latin-1").splitlines():
        if line.strip() and not line.startswith(" "):
            yield line


@cache
def installed_wordnet() -> WordNet:
    """Return WordNet as it is installed.

    Raises
    ------
    MissingExtra
        Without its files in ``$WNSEARCHDIR``, ``$NLTK_DATA`` or :data:`PLACES`.
    HarnessError
        For files of another form.
    """
    folders = [user_path(place) for place in PLACES]
    nltk_folder = os.environ.get("NLTK_DATA")
    if nltk_folder:
        folders.insert(0, user_path(nltk_folder) / "corpora" / "wordnet")
    own_folder = os.environ.get("WNSEARCHDIR")
    if own_folder:
        folders.insert(0, user_path(own_folder))
    for folder in folders:
        try:
            read = _reader_of(folder)
            if read is not None:
                return WordNet({name: read(name) for name in FILES})
        except (ValueError, IndexError, KeyError, zipfile.BadZipFile) as error:
            raise HarnessError(
                f"WordNet: its files are of another form ({error}); expected those of "
                "WordNet 3.0",
                str(folder),
            ) from error
    raise MissingExtra(
        "dense: the mean average precision of scan2cap-benchmark compares words by "
        "WordNet 3.0, which is not installed; expected its files in /usr/share/wordnet "
        "(apt install wordnet-base), in nltk_data (python -m nltk.downloader wordnet), "
        "or in the folder that WNSEARCHDIR names"
    )


def _reader_of(folder: Path) -> Callable[[str], bytes] | None:
    """Return a function that reads a file of WordNet from a folder, or from the archive
    of its name that NLTK leaves; None where neither has all.
    """
    if all((folder / name).is_file() for name in FILES):
        return lambda name: (folder / name).read_bytes()
    archive = folder.with_suffix(".zip")
    if not archive.is_file():
        return None
    packed = zipfile.ZipFile(archive)
    return lambda name: packed.read(f"{folder.name}/{name}")
