"""Word lists with special words for masked slots and drafts,
and the words that carry what a video shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.errors import InputError
from harness_models.o2na.layers import BOS, EOS, MASK, PAD, UNK, VIS
from harness_models.shared.tokenisers import WordList
from harness_models.shared.weights.checkpoint_config import read_json

# --------------------------------------------------------------------------- visual words
# Visual words of a caption, where no parts of speech are available.
#
# NACF's templates hold visual words, which are nouns and verbs in the paper. Here they
# are all words outside a closed list of function words.
_DETERMINERS = """
    a an the this that these those his her its their my your our
    some any each every no another one two three four five six several
"""
_OTHERS = """
    i you he she it we they me him us them who whom whose which what there here
    is are was were be been being am has have had having do does did can could will would shall should may might must
    of in on at by to from with without into onto over under above below behind before after near between among through across
    around along against beside besides inside outside off out up down upon toward towards about as for during while than
    and or but nor so if then because when where not very too also just only
"""
DETERMINERS = frozenset(_DETERMINERS.split())
"""Articles, demonstratives, possessives, quantifiers and small numbers."""
FUNCTION_WORDS = DETERMINERS | frozenset(_OTHERS.split())
"""Words that are not visual."""


def is_visual(word: str) -> bool:
    """Return True if a word is not a function word and contains a letter.

    >>> [
    ...     word
    ...     for word in "a red block is in front of the wall".split()
    ...     if is_visual(word)
    ... ]
    ['red', 'block', 'front', 'wall']
    """
    return word not in FUNCTION_WORDS and any(ch.isalpha() for ch in word)


SPECIAL = ("<pad>", "<unk>", "<bos>", "<eos>", "<mask>", "<vis>")
"""Special words in the order of their ids."""


def split_words(text: str) -> list[str]:
    """Return the lower-cased words of a text without punctuation at their ends,
    as in the authors' corpus.

    Tokens without a letter or digit are dropped.

    >>> split_words("A man's dog runs , fast!")
    ['a', "man's", 'dog', 'runs', 'fast']
    """
    words = [word for word in text.lower().split() if any(ch.isalnum() for ch in word)]
    return [word.strip(".,!?;:\"'()") for word in words]


class VideoWords(WordList):
    """Words and their ids, from a file or a list.

    Parameters
    ----------
    source
        JSON file with a list or a mapping of id to word, or the words themselves.
    path
        File that the words were read from, for error messages, where ``source`` is the
        words.

    Raises
    ------
    InputError
        If the file does not exist or does not hold words, or the ids are not 0 to N - 1.
    """

    unknown = UNK
    ends = (PAD, EOS)
    hidden = (BOS, MASK, VIS)
    split = staticmethod(split_words)

    def __init__(
        self, source: str | Path | Sequence[str], path: str | Path | None = None
    ) -> None:
        if isinstance(source, (str, Path)):
            self.path = Path(source)
            if not self.path.is_file():
                raise InputError("no such word list", str(self.path))
            data = self.read()
        else:
            self.path = Path(path or ".")
            data = list(source)
        try:
            table = {
                int(i): str(word)
                for i, word in (
                    data.items() if isinstance(data, Mapping) else enumerate(data)
                )
            }
        except (TypeError, ValueError) as error:
            raise InputError(
                "expected a list of words or a mapping of ids to words", str(self.path)
            ) from error
        if sorted(table) != list(range(len(table))):
            raise InputError(f"word ids are not 0 to {len(table) - 1}", str(self.path))
        super().__init__([table[i] for i in range(len(table))])

    def read(self) -> Any:
        """Return the list or mapping in the file."""
        return read_json(self.path, "word list")
