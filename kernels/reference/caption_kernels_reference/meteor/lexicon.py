"""METEOR's word knowledge for English: function words, non-breaking prefixes, base
forms, synonym sets and paraphrases.

Every word of any list has a number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from caption_kernels.lexicon import file_format as layout
from caption_kernels_reference.meteor.hashes import first_slot, hash_bytes, mix_hashes

if TYPE_CHECKING:
    from typing_extensions import Buffer

_NOUNS = b"s> ses>s xes>x zes>z ches>ch shes>sh men>man ies>y"
_VERBS = b"s> ies>y es>e es> ed>e ed> ing>e ing>"
_ADJECTIVES = b"er> est> er>e est>e"
_DETACHMENTS = [
    rule.split(b">")
    for rules in (_NOUNS, _VERBS, _ADJECTIVES)
    for rule in rules.split()
]
"""WordNet's rules of detachment (morphy; Fellbaum 1998) in the order in which they are
tried: suffix, replacement.
"""


class Lexicon:
    """A lexicon in a buffer; opening checks its header and lengths.

    Parameters
    ----------
    buffer : object with a buffer
        :func:`caption_kernels.lexicon.file_format.finished`'s result, or a file of it.

    Raises
    ------
    ValueError
        If the buffer is of another version or its lengths do not fit.
    """

    def __init__(self, buffer: Buffer) -> None:
        self._buffer = memoryview(buffer).cast("B")
        self._sections, self.n_synsets = layout.open_buffer(self._buffer)

    def is_function_word(self, word: str) -> bool:
        """Return True for a function word."""
        return bool(self._flags(word) & layout.IS_FUNCTION_WORD)

    def prefix_kind(self, word: str) -> int:
        """Return 1 for a word after which a dot is no full stop,
        2 if only before a number, else 0.
        """
        flags = self._flags(word)
        if not flags & layout.IS_PREFIX:
            return 0
        return 2 if flags & layout.IS_NUMERIC_PREFIX else 1

    def synsets(self, word: str) -> list[int]:
        """Return the synonym sets of a word and of its base forms, ascending."""
        number = self._find(_encode(word))
        forms = [number, *self._base_forms(word, number)]
        return sorted(
            {
                s
                for form in forms
                for s in _run(
                    self._sections.synset_starts, self._sections.synsets, form
                )
            }
        )

    def number(self, word: str) -> int:
        """Return the number of a word, or -1."""
        return self._find(_encode(word))

    def paraphrase_child(self, node: int, word: int) -> int:
        """Return the node of the phrase that a word makes of the phrase of another
        node, or -1; node 0 is that of no words.
        """
        if node < 0 or word < 0:
            return -1
        slots = self._sections.edge_slots
        edges = self._sections.edges
        edge = np.array([node << 32 | word], dtype=np.uint64)
        slot = int(first_slot(mix_hashes(edge), len(slots))[0])
        for _ in range(len(slots)):
            child = int(slots[slot]) & 0xFFFFFFFF
            if not slots[slot]:
                return -1
            if child < len(edges) and edges[child] == edge[0]:
                return child
            slot = (slot + 1) % len(slots)
        return -1

    def paraphrase_targets(self, node: int) -> list[int]:
        """Return the nodes of the paraphrases of a phrase,
        in the order of the table.
        """
        return _run(self._sections.first_target, self._sections.targets, node)

    def _flags(self, word: str) -> int:
        number = self._find(_encode(word))
        return int(self._sections.flags[number]) if number >= 0 else 0

    def _find(self, word: bytes) -> int:
        """Return the number of a word, or -1."""
        slots = self._sections.slots
        slot = hash_bytes(word) % len(slots)
        for _ in range(len(slots)):
            number = int(slots[slot])
            if not 0 <= number < len(self._sections.flags):
                return -1
            if (
                bytes(
                    _run(self._sections.word_starts, self._sections.word_bytes, number)
                )
                == word
            ):
                return number
            slot = (slot + 1) % len(slots)
        return -1

    def _base_forms(self, word: str, number: int) -> list[int]:
        """Return the base forms of an irregular word, else the result of the first rule
        that gives a word of the synonym list.

        meteor-1.5.jar removes ``-ful`` first and appends it to the result. No rule
        applies to a word in ``-ful``, so such a word has no base form.
        """
        if listed := _run(self._sections.base_starts, self._sections.bases, number):
            return listed
        if word.endswith("ss") or len(word.encode("utf-16-le", "surrogatepass")) <= 4:
            return []
        form = _encode(word)
        for suffix, ending in _DETACHMENTS:
            if form.endswith(suffix):
                base = self._find(form[: -len(suffix)] + ending)
                if base >= 0 and self._sections.flags[base] & layout.HAS_SYNSETS:
                    return [base]
        return []


def _encode(word: str) -> bytes:
    return word.encode("utf-8", "surrogatepass")


def _run(starts: np.ndarray, values: np.ndarray, row: int) -> list:
    """Return ``values[starts[row] : starts[row + 1]]``;
    nothing if the bounds lie outside.
    """
    if not 0 <= row < len(starts) - 1:
        return []
    first = int(starts[row])
    last = int(starts[row + 1])
    return values[first:last].tolist() if 0 <= first <= last <= len(values) else []
