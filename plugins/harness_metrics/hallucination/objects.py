"""Objects that captions mention, by a table of synonyms.

A table maps each object to its synonyms. A synonym may itself be an object of the
table: its words then belong to the object above it. ``none`` lists phrases that contain
the word of an object and mention none (``toilet paper``), ``modifiers`` words that are
an object only where no other object follows (``orange cat``). The built-in table has
the 80 object classes of COCO, with synonyms written for this project in the style of
Rohrbach et al. (2018).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeGuard, cast

from harness.errors import InputError, did_you_mean
from harness.files import yaml_source
from harness_metrics.hallucination.nouns import singular
from harness_metrics.tokenisers.plain_words import plain_words

BUILT_IN = "coco"
"""Name of the built-in table."""
_KEYS = ("objects", "modifiers", "none")
Phrase = tuple[str, ...]


class ObjectTable:
    """Objects and the phrases that mention them.

    Parameters
    ----------
    objects : mapping
        Object -> list of synonyms.
    none : sequence of str
        Phrases that mention no object.
    modifiers : sequence of str
        Words that mention an object only where no other mention follows directly.
    name : str
        Name of the table in messages and signatures.
    locations : mapping, optional
        Object -> its location (``file:line``) for messages.

    Raises
    ------
    InputError
        For a cycle of synonyms, a phrase without words, or a phrase of two objects.

    Examples
    --------
    >>> table = ObjectTable({"animal": ["dog", "cat"], "dog": ["puppy"]})
    >>> table.mentions("Two puppies and a cat")
    ['animal', 'animal']
    """

    def __init__(
        self,
        objects: Mapping[str, Sequence[str]],
        none: Sequence[str] = (),
        modifiers: Sequence[str] = (),
        *,
        name: str = "table",
        locations: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self._locations = locations or {}
        roots = self._roots(objects)

        self._phrases: dict[Phrase, str | None] = {}
        for item, synonyms in objects.items():
            for text in (item, *synonyms):
                self._add(text, roots.get(text, roots[item]), item)
        for text in none:
            self._phrases.setdefault(_phrase(text), None)
        self._modifiers = frozenset(map(_phrase, modifiers))
        self._longest = max(map(len, self._phrases), default=1)
        self.objects: tuple[str, ...] = tuple(dict.fromkeys(roots.values()))

        phrases = sorted((list(phrase), item) for phrase, item in self._phrases.items())
        content = json.dumps([phrases, sorted(map(list, self._modifiers))])
        self._digest = hashlib.sha256(content.encode()).hexdigest()[:12]

    def signature(self) -> str:
        """Return the name of the table and a hash of its content."""
        return f"{self.name}-{self._digest}"

    def mentions(self, text: str) -> list[str]:
        """Return the objects that a text mentions, in order and with repetitions; the
        longest phrase at each word counts.
        """
        words = tuple(map(singular, plain_words(text, joiners="'")))
        hits = list[tuple[str, int, int, Phrase]]()
        at = 0
        while at < len(words):
            # Longest match first, so that 'hot dog' is no dog and 'toilet paper' (a
            # phrase of no object) is no toilet. The words of a match are used up.
            sizes = range(min(self._longest, len(words) - at), 0, -1)
            size = next((n for n in sizes if words[at : at + n] in self._phrases), 0)
            item = self._phrases[words[at : at + size]] if size else None
            if item is not None:
                hits.append((item, at, at + size, words[at : at + size]))
            at += max(size, 1)

        # A modifier is an object of its own (an orange) unless another object follows
        # at once (an orange cat).
        starts = {start for _, start, _, _ in hits}
        return [
            item
            for item, _, end, phrase in hits
            if not (phrase in self._modifiers and end in starts)
        ]

    def object_of(self, label: str, location: str) -> str:
        """Return the object of an annotated label; raise :class:`InputError` for a
        label that is not in the table.
        """
        item = self._phrases.get(_phrase(label))
        if item is None:
            hint = did_you_mean(label, self.objects)
            raise InputError(
                f"the annotated object '{label}' is not in the table of objects{hint}",
                location,
                value=label,
            )
        return item

    def contains(self, phrase: str) -> bool:
        """Return True for a phrase that mentions an object."""
        return self._phrases.get(_phrase(phrase)) is not None

    def canonical(self, noun: str) -> str:
        """Return the object of a noun or phrase, or the noun itself in the singular
        where the table lacks it.
        """
        return self._phrases.get(_phrase(noun)) or " ".join(_phrase(noun))

    def _add(self, text: str, root: str, item: str) -> None:
        """Add a phrase of an object."""
        phrase = _phrase(text)
        if not phrase:
            raise InputError(
                f"the object '{item}' has a synonym without words: {text!r}",
                self._locations.get(item),
            )
        owner = self._phrases.setdefault(phrase, root)
        if owner != root:
            raise InputError(
                f"'{text}' is a word of two objects, '{owner}' and '{root}'",
                self._locations.get(item),
            )

    def _roots(self, objects: Mapping[str, Sequence[str]]) -> dict[str, str]:
        """Return the object at the top of each object;
        raise :class:`InputError` for a cycle.
        """
        above: dict[str, str] = {}
        for item, synonyms in objects.items():
            for text in synonyms:
                if text not in objects or text == item:
                    continue
                owner = above.setdefault(text, item)
                if owner != item:
                    raise InputError(
                        f"'{text}' is a word of two objects, '{owner}' and '{item}'",
                        self._locations.get(item),
                    )

        # Synonyms may be objects of the table themselves: follow each upwards. Only a
        # walk finds a cycle of several objects.
        roots: dict[str, str] = {}
        for item in objects:
            chain = [item]
            while chain[-1] in above:
                chain.append(above[chain[-1]])
                if chain[-1] in chain[:-1]:
                    cycle = chain[chain.index(chain[-1]) :][::-1]
                    raise InputError(
                        f"the table of objects has a cycle: {' > '.join(cycle)}; "
                        "expected each object under at most one other, "
                        "and none under itself",
                        self._locations.get(item),
                    )
            roots[item] = chain[-1]
        return roots


@lru_cache(maxsize=1 << 14)
def _phrase(text: str) -> Phrase:
    """Return the words of a phrase, each in the singular."""
    return tuple(map(singular, plain_words(text, joiners="'")))


def object_table(table: str | Path) -> ObjectTable:
    """Return the built-in table (``coco``), or that of a YAML or JSON file.

    A file maps objects to lists of synonyms, at the top or under the key ``objects``,
    then beside ``modifiers`` and ``none``.

    Raises
    ------
    InputError
        With file and line, for a file that is not such a table, and as
        :class:`ObjectTable`.
    """
    if str(table) == BUILT_IN:
        return _built_in()
    return _read_table(Path(table), Path(table).stem)


@lru_cache(maxsize=8)
def _built_in() -> ObjectTable:
    """Return the built-in table."""
    return _read_table(Path(__file__).with_name("coco_objects.json"), BUILT_IN)


def _read_table(path: Path, name: str) -> ObjectTable:
    """Return the table of a file."""
    located = yaml_source.load(path)
    data = cast("Mapping[str, object]", located.data)
    if not isinstance(located.data, dict) or not data:
        raise InputError(
            "the table of objects is empty or no mapping; "
            "expected objects with lists of synonyms",
            str(path),
        )

    # A table with modifiers has its objects one level deeper.
    nested = isinstance(data.get("objects"), Mapping)
    if nested:
        for key in data:
            if key not in _KEYS:
                raise InputError(
                    f"unknown key '{key}'{did_you_mean(str(key), _KEYS)}",
                    located.where((key,)),
                )
    objects = cast("Mapping[str, object]", data["objects"]) if nested else data
    prefix: tuple[str, ...] = ("objects",) if nested else ()
    locations = {str(item): located.where((*prefix, item)) for item in objects}

    parsed: dict[str, Sequence[str]] = {}
    for item, synonyms in objects.items():
        texts = list[str]() if synonyms is None else synonyms
        location = locations[str(item)]
        parsed[str(item)] = _texts(texts, f"synonyms of '{item}'", location)

    lists: dict[str, Sequence[str]] = {}
    if nested:
        for key in _KEYS[1:]:
            location = located.where((key,))
            lists[key] = _texts(data.get(key) or [], f"'{key}'", location)
    return ObjectTable(
        parsed,
        lists.get("none", ()),
        lists.get("modifiers", ()),
        name=name,
        locations=locations,
    )


def _texts(values: object, subject: str, location: str) -> Sequence[str]:
    """Return a list of texts; raise :class:`InputError` for another value."""
    if not is_text_list(values):
        raise InputError(
            f"the {subject} are {values!r:.60}; expected a list of texts", location
        )
    return values


def is_text_list(value: object) -> TypeGuard[Sequence[str]]:
    """Return True for a list of texts."""
    return isinstance(value, (list, tuple)) and all(
        isinstance(text, str) for text in cast("Sequence[object]", value)
    )
