"""The examples of a run: read once, kept in memory where they are few and in a
temporary file where they are many.

A run needs its examples several times: for keys, corpus state, captions, scores,
samples. The store reads the data set in one pass and gives blocks of examples
afterwards, so that memory does not grow with their number.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import tempfile
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import IO, overload

import numpy as np

from harness.contracts import Example, is_event_set
from harness.errors import InputError
from harness.files.captions import count_words
from harness.files.media import MediaCell
from harness.rundir.format import plain
from harness.stats.name_order import is_in_order, order_of_names

BLOCK = 4096
"""Examples per block: of the temporary file,
and of the files of answers in a run directory.
"""
IN_MEMORY = 4 * BLOCK
"""Maximum number of examples that are kept in memory."""
KEY_BYTES = 16
"""Length of the key of an example in bytes."""
_CACHED_BLOCKS = 2
_ENCODER = json.JSONEncoder(sort_keys=True, ensure_ascii=True, default=plain)


class ExampleStore(Sequence[Example]):
    """Examples in the order of the data set, with a key of each example's content.

    Parameters
    ----------
    examples : iterable of Example
        Examples, read once.
    where : str
        Place of the data set in messages, such as ``reader 'coco'``.
    advance : callable
        Called with the number of examples after each block.
    content : callable, optional
        Returns a text that changes with the content of the data set. It stands in the
        keys of media that are cells of a local data set, in place of the path of the
        data set.

    Raises
    ------
    InputError
        Two examples share an id.
    """

    def __init__(
        self,
        examples: Iterable[Example],
        location: str = "examples",
        advance: Callable[[int], None] = lambda n: None,
        content: Callable[[], str] | None = None,
    ) -> None:
        self._content = content
        self._blocks: list[list[Example]] = []
        self._file: IO[bytes] | None = None
        self._offsets: list[tuple[int, int]] = []
        self._cache: OrderedDict[int, list[Example]] = OrderedDict()
        self._length = 0
        self.reference_counts: set[int] = set()
        """Numbers of references that occur."""
        self.has_meta = False
        """True when an example has metadata."""
        self.has_events = False
        """True when a reference is a set of events."""
        self.longest = 0
        """Number of words of the longest reference."""

        n_words = n_references = 0
        keys = bytearray()
        ids: set[int] = set()
        iterator = iter(examples)
        while block := list(islice(iterator, BLOCK)):
            self._check_ids(block, ids, location)
            for example in block:
                keys += example_key(example, self._cell_text(example))

            references = [text for example in block for text in example.references]
            longest = max(references, key=len, default="")
            self.longest = max(self.longest, count_words(longest))
            self.has_events = self.has_events or any(map(is_event_set, references))
            n_words += sum(map(count_words, references))
            n_references += len(references)
            self.reference_counts.update(len(example.references) for example in block)
            self.has_meta = self.has_meta or any(example.meta for example in block)

            self._add(block)
            advance(len(block))

        self.keys = np.frombuffer(bytes(keys), dtype=np.uint8).reshape(-1, KEY_BYTES)
        """Key of each example's content, uint8, shape (examples, 16)."""
        self.words = n_words / max(1, n_references)
        """Mean number of words of a reference."""

    @property
    def references(self) -> References:
        """References of all examples, read block by block."""
        return References(self)

    @cached_property
    def order(self) -> np.ndarray | None:
        """Positions of the examples in the order of their ids, in which resamples are
        drawn, shape (examples,); None: that of the store.
        """
        if is_in_order(example.id for example in self):
            return None
        return order_of_names([example.id for example in self])

    def digest(self, start: int = 0, stop: int | None = None) -> str:
        """Return a hash of the examples from ``start`` to ``stop``."""
        return hashlib.sha256(self.keys[start:stop].tobytes()).hexdigest()

    def key(self, index: int) -> str:
        """Return the key of an example, 32 hex digits."""
        return self.keys[index].tobytes().hex()

    def slice(self, start: int, stop: int) -> list[Example]:
        """Return the examples from ``start`` to ``stop`` (excluded)."""
        out: list[Example] = []
        for number in range(start // BLOCK, -(-min(stop, self._length) // BLOCK)):
            first = number * BLOCK
            out.extend(self._block(number)[max(0, start - first) : stop - first])
        return out

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Example]:
        for number in range(-(-self._length // BLOCK)):
            yield from self._block(number)

    @overload
    def __getitem__(self, index: int) -> Example: ...

    @overload
    def __getitem__(self, index: slice) -> list[Example]: ...

    def __getitem__(self, index: int | slice) -> Example | list[Example]:
        if isinstance(index, slice):
            start, stop, step = index.indices(self._length)
            if step == 1:
                return self.slice(start, stop)
            return [self[i] for i in range(start, stop, step)]
        if not -self._length <= index < self._length:
            raise IndexError(index)
        number, offset = divmod(index % self._length, BLOCK)
        return self._block(number)[offset]

    def _cell_text(self, example: Example) -> str | None:
        """Return a text of a media cell of a local data set without the path of this;
        None for other media, whose name counts.
        """
        if not example.media or not self._content:
            return None
        cell = MediaCell.parse(example.media)
        if cell is None or cell.source.local is None:
            return None

        # the content of the data set in place of its path
        source = cell.source
        of_source = [self._content_text, source.config, source.split, source.revision]
        return json.dumps([*of_source, cell.column, cell.row, cell.name])

    @cached_property
    def _content_text(self) -> str:
        assert self._content is not None
        return self._content()

    def _check_ids(
        self, block: Sequence[Example], ids: set[int], location: str
    ) -> None:
        for example in block:
            number = hash(example.id)
            if number in ids and self._occurs(example.id, block):
                raise InputError(
                    f"the id '{example.id}' occurs twice", location, value=example.id
                )
            ids.add(number)

    def _occurs(self, name: str, block: Sequence[Example]) -> bool:
        """Return True when an id occurs among the stored examples, or twice in the
        block: equal hashes are not equal ids.
        """
        return any(e.id == name for e in self) or sum(e.id == name for e in block) > 1

    def _add(self, block: list[Example]) -> None:
        self._length += len(block)
        self._blocks.append(block)
        if self._length > IN_MEMORY:
            self._spool()

    def _spool(self) -> None:
        """Move the blocks in memory into the temporary file,
        which no other process can open.
        """
        if self._file is None:
            # closed with the store
            prefix = "harness-examples-"
            self._file = tempfile.TemporaryFile(prefix=prefix)  # noqa: SIM115
        for block in self._blocks:
            start = self._file.seek(0, 2)
            rows = [(e.id, e.references, e.media, e.source, e.meta) for e in block]
            try:
                self._file.write(pickle.dumps(rows, protocol=pickle.HIGHEST_PROTOCOL))
            except (pickle.PicklingError, TypeError, AttributeError) as error:
                raise InputError(
                    f"the metadata of an example between '{block[0].id}' and "
                    f"'{block[-1].id}' cannot be stored: {error}"
                ) from error
            self._offsets.append((start, self._file.tell() - start))
        self._blocks.clear()

    def _block(self, number: int) -> list[Example]:
        if self._file is None:
            return self._blocks[number]
        if number in self._cache:
            self._cache.move_to_end(number)
            return self._cache[number]

        start, size = self._offsets[number]
        self._file.seek(start)
        # the file of this process
        block = [Example(*row) for row in pickle.loads(self._file.read(size))]

        self._cache[number] = block
        while len(self._cache) > _CACHED_BLOCKS:
            self._cache.popitem(last=False)
        return block

    def __del__(self) -> None:
        file = self.__dict__.get("_file")
        if file is not None:
            file.close()


class References(Sequence[Sequence[str]]):
    """References of the examples of a store, one sequence per example;
    nothing is copied.
    """

    def __init__(self, store: ExampleStore) -> None:
        self.store = store

    def __len__(self) -> int:
        return len(self.store)

    def __iter__(self) -> Iterator[Sequence[str]]:
        return (example.references for example in self.store)

    @overload
    def __getitem__(self, index: int) -> Sequence[str]: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Sequence[str]]: ...

    def __getitem__(
        self, index: int | slice
    ) -> Sequence[str] | Sequence[Sequence[str]]:
        if isinstance(index, slice):
            return [example.references for example in self.store[index]]
        return self.store[index].references


def example_values(example: Example) -> list[object]:
    """Return the content of an example as JSON-compatible values, for keys."""
    return [
        example.id,
        example.references,
        example.media,
        example.source,
        dict(example.meta),
    ]


def example_key(example: Example, media: str | None = None) -> bytes:
    """Return the hash of an example's content, 16 bytes;
    ``media`` replaces the name of its media file.
    """
    values = example_values(example if media is None else replace(example, media=media))
    text = _ENCODER.encode(values)
    return hashlib.sha256(text.encode()).digest()[:KEY_BYTES]
