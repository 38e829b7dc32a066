"""WordPiece of BERT, from a local file ``vocab.txt``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from harness.errors import InputError, require
from harness_models.shared.tokenisers.word_list import WordList

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def vocabulary_of(texts: Iterable[str], size: int) -> list[str]:
    """Return a WordPiece vocabulary of at most ``size`` pieces.

    It holds the special tokens, every character at the start of a word and (with ##)
    inside, and the most frequent words, ordered by count and then by spelling. The same
    texts always give the same list; the trainer of the package tokenizers does not
    guarantee that.

    Raises :class:`InputError` if ``size`` is below the number of special tokens and
    characters.
    """
    tokenizers = require("tokenizers", extra="models", needed_by="BERT's tokenizer")
    normaliser = tokenizers.normalizers.BertNormalizer(
        lowercase=False, strip_accents=False
    )
    split = tokenizers.pre_tokenizers.BertPreTokenizer()

    counts: Counter[str] = Counter()
    for text in texts:
        words = split.pre_tokenize_str(normaliser.normalize_str(text))
        counts.update(word for word, _ in words)

    letters = sorted({letter for word in counts for letter in word})
    pieces = [*SPECIAL, *letters, *(f"##{letter}" for letter in letters)]
    words = sorted(
        (word for word in counts if len(word) > 1),
        key=lambda word: (-counts[word], word),
    )

    if size < len(pieces):
        raise InputError(
            f"a vocabulary of {size} pieces has no room for the {len(pieces)} single "
            "characters of the captions"
        )
    return pieces + words[: size - len(pieces)]


class WordPiece(WordList):
    """Tokeniser without special tokens in its output.

    Parameters
    ----------
    vocabulary
        File with one piece per line, or a folder with ``vocab.txt``.
    lower
        If true, texts are lower-cased.

    Raises
    ------
    InputError
        If the file is missing or lacks a special token.
    """

    def __init__(self, vocabulary: str | Path, *, lower: bool = False) -> None:
        self.path = Path(vocabulary)
        if self.path.is_dir():
            self.path = self.path / "vocab.txt"
        if not self.path.is_file():
            raise InputError(
                "no such WordPiece vocabulary (expected BERT's vocab.txt)",
                str(self.path),
            )

        tokenizers = require("tokenizers", extra="models", needed_by="BERT's tokenizer")
        super().__init__(self.path.read_text(encoding="utf-8").splitlines())
        absent = [name for name in SPECIAL if name not in self.ids]
        if absent:
            raise InputError(
                f"no {', '.join(absent)} in this vocabulary", str(self.path)
            )
        self._tokenizer = tokenizers.BertWordPieceTokenizer(
            str(self.path), lowercase=lower, strip_accents=False
        )

    def special(self) -> dict[str, int]:
        """Return the ids of the special tokens by name."""
        return {name: self.ids[name] for name in SPECIAL}

    def encode(self, text: str) -> list[int]:
        """Return the token ids of a text."""
        return self._tokenizer.encode(text, add_special_tokens=False).ids

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of token ids: pieces with ## continue the word before them,
        other pieces are joined by spaces.
        """
        return " ".join(self.words[i] for i in ids).replace(" ##", "")
