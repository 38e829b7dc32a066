"""METEOR's word knowledge for English: function words, non-breaking prefixes, base forms, synonym sets and paraphrases.

Every word of any list has a number; the words of the paraphrase table come first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from caption_kernels.reference.meteor import lexicon_format as layout
from caption_kernels.reference.meteor.paraphrases import ParaphraseReader
from caption_kernels.reference.meteor.sources import WordLists, read_lists

if TYPE_CHECKING:
    from typing_extensions import Buffer

_DETACHMENTS = (
    # nouns
    (b"s", b""),
    (b"ses", b"s"),
    (b"xes", b"x"),
    (b"zes", b"z"),
    (b"ches", b"ch"),
    (b"shes", b"sh"),
    (b"men", b"man"),
    (b"ies", b"y"),
    # verbs
    (b"s", b""),
    (b"ies", b"y"),
    (b"es", b"e"),
    (b"es", b""),
    (b"ed", b"e"),
    (b"ed", b""),
    (b"ing", b"e"),
    (b"ing", b""),
    # adjectives
    (b"er", b""),
    (b"est", b""),
    (b"er", b"e"),
    (b"est", b"e"),
)
"""WordNet's rules of detachment (morphy; Fellbaum 1998) in the order in which they are tried: suffix, replacement."""


class Lexicon:
    """A lexicon in a buffer; opening checks its header and lengths.

    Parameters
    ----------
    buffer : object with a buffer
        A finished :class:`LexiconBuilder`'s result, or a file of it.

    Raises
    ------
    ValueError
        If the buffer is of another version or its lengths do not fit.
    """

    def __init__(self, buffer: Buffer) -> None:
        self._buffer = memoryview(buffer).cast("B")
        self._sections, self.n_synsets = layout.opened(self._buffer)

    def verify(self) -> None:
        """Raise ValueError if a byte of the lexicon has changed."""
        layout.verify(self._buffer)

    @property
    def n_paraphrase_words(self) -> int:
        """Number of words of the paraphrase table."""
        return len(self._sections.roots)

    def is_function_word(self, word: str) -> bool:
        """Return True for a function word."""
        return bool(self._flags(word) & layout.IS_FUNCTION_WORD)

    def prefix_kind(self, word: str) -> int:
        """Return 1 for a word after which a dot is no full stop, 2 if only before a number, else 0."""
        flags = self._flags(word)
        return 0 if not flags & layout.IS_PREFIX else 2 if flags & layout.IS_NUMERIC_PREFIX else 1

    def synsets(self, word: str) -> list[int]:
        """Return the synonym sets of a word and of its base forms, ascending."""
        number = self._find(_encoded(word))
        forms = [number, *self._base_forms(word, number)]
        return sorted({s for form in forms for s in _run(self._sections.synset_starts, self._sections.synsets, form)})

    def paraphrase_word(self, word: str) -> int:
        """Return the number of a word of the paraphrase table, or -1."""
        number = self._find(_encoded(word))
        return number if number < self.n_paraphrase_words else -1

    def paraphrase_root(self, word: int) -> int:
        """Return the node of the phrases that begin with a word, or -1."""
        return self._node(int(self._sections.roots[word])) if 0 <= word < self.n_paraphrase_words else -1

    def paraphrase_child(self, node: int, word: int) -> int:
        """Return the node that a word leads to, or -1."""
        if node == 0:
            return self.paraphrase_root(word)
        if node < 0 or word < 0:
            return -1
        slots, edges = self._sections.edge_slots, self._sections.edges
        edge = np.array([node << 32 | word], dtype=np.uint64)
        place = int(layout.first_slot(layout.mixed(edge), len(slots))[0])
        for _ in range(len(slots)):
            child = int(slots[place]) & 0xFFFFFFFF
            if not slots[place]:
                return -1
            if child < len(edges) and edges[child] == edge[0]:
                return child
            place = (place + 1) % len(slots)
        return -1

    def paraphrase_targets(self, node: int) -> list[int]:
        """Return the nodes of the paraphrases of a phrase, in the order of the table."""
        return _run(self._sections.first_target, self._sections.targets, node)

    def _node(self, node: int) -> int:
        return node if node < len(self._sections.edges) else -1

    def _flags(self, word: str) -> int:
        number = self._find(_encoded(word))
        return int(self._sections.flags[number]) if number >= 0 else 0

    def _find(self, word: bytes) -> int:
        """Return the number of a word, or -1."""
        slots = self._sections.slots
        place = layout.hash_bytes(word) % len(slots)
        for _ in range(len(slots)):
            number = int(slots[place])
            if not 0 <= number < len(self._sections.flags):
                return -1
            if bytes(_run(self._sections.word_starts, self._sections.word_bytes, number)) == word:
                return number
            place = (place + 1) % len(slots)
        return -1

    def _base_forms(self, word: str, number: int) -> list[int]:
        """Return the base forms of an irregular word, else the result of the first rule that gives a word of the synonym list.

        meteor-1.5.jar removes ``-ful`` first and appends it to the result. No rule applies to a word in ``-ful``, so such a word has no
        base form.
        """
        if listed := _run(self._sections.base_starts, self._sections.bases, number):
            return listed
        if word.endswith("ss") or len(word.encode("utf-16-le", "surrogatepass")) <= 4:
            return []
        form = _encoded(word)
        for suffix, ending in _DETACHMENTS:
            if form.endswith(suffix):
                base = self._find(form[: -len(suffix)] + ending)
                if base >= 0 and self._sections.flags[base] & layout.HAS_SYNSETS:
                    return [base]
        return []


class LexiconBuilder:
    """Builds METEOR's lexicon from its paraphrase table and word lists."""

    def __init__(self) -> None:
        self._table: ParaphraseReader | None = ParaphraseReader()

    def feed(self, data: Buffer) -> None:
        """Read the next block of the paraphrase table, which may end anywhere."""
        if self._table is None:
            raise ValueError("METEOR's lexicon: an argument is out of its range")
        self._table.feed(bytes(memoryview(data)))

    def finish(self, function_words: Buffer, prefixes: Buffer, exceptions: Buffer, synsets: Buffer) -> Buffer:
        """End the table, read the English lists of the jar and return the lexicon."""
        if self._table is None:
            raise ValueError("METEOR's lexicon: an argument is out of its range")
        table, self._table = self._table.finish(), None
        try:
            lists = read_lists(*(bytes(memoryview(text)) for text in (function_words, prefixes, exceptions, synsets)))
        except ValueError as error:
            raise layout.damaged() from error
        numbers = {word: number for number, word in enumerate(table.words)}
        irregular = (word for form, bases in lists.exceptions.items() for word in (form, *bases))
        for word in (*lists.function_words, *lists.prefixes, *irregular, *lists.synsets):
            numbers.setdefault(word, len(numbers))
        words = list(numbers)
        word_starts = np.cumsum([0, *map(len, words)], dtype=np.int64)
        synsets_of = {numbers[word]: sets for word, sets in lists.synsets.items()}
        bases_of = {numbers[form]: [numbers[base] for base in bases] for form, bases in lists.exceptions.items()}
        sections = layout.Sections(
            layout.slots_of(words),
            word_starts,
            np.frombuffer(b"".join(words), dtype=np.uint8),
            np.array([_flags(word, lists) for word in words], dtype=np.uint8),
            *layout.runs(synsets_of, len(words)),
            *layout.runs(bases_of, len(words)),
            table.roots,
            layout.edge_slots_of(table.edges),
            table.edges,
            table.first_target,
            table.targets,
        )
        return layout.written(sections, lists.n_synsets)


def _flags(word: bytes, lists: WordLists) -> int:
    """Return the flags of a word."""
    return (
        layout.IS_FUNCTION_WORD * (word in lists.function_words)
        + layout.IS_PREFIX * (word in lists.prefixes)
        + layout.IS_NUMERIC_PREFIX * lists.prefixes.get(word, False)
        + layout.HAS_SYNSETS * (word in lists.synsets)
    )


def _encoded(word: str) -> bytes:
    return word.encode("utf-8", "surrogatepass")


def _run(starts: np.ndarray, values: np.ndarray, row: int) -> list:
    """Return ``values[starts[row] : starts[row + 1]]``; nothing if the bounds lie outside."""
    if not 0 <= row < len(starts) - 1:
        return []
    first, last = int(starts[row]), int(starts[row + 1])
    return values[first:last].tolist() if 0 <= first <= last <= len(values) else []
