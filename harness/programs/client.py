"""The client of a program: its identity, and arrays of answers, kept on disk.

The answers of a chunk of requests are one row of a store (:mod:`harness.llm.store`,
``programs`` in the folder of caches) under everything that they depend on, so that a
run that is repeated after a kill, or another run of the same captions, does not ask
again.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import itertools
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from harness.contracts import Parameters, Values
from harness.errors import HarnessError
from harness.llm.store import ReplyStore
from harness.programs.child import Child
from harness.programs.exchange import Chunk, Exchange
from harness.programs.program import Program
from harness.programs.protocol import VERSION, Greeting, encode_fields, greet
from harness.registry.component_ends import end_with_run

NameOf = Callable[[int], str]
"""Returns the name of an item by its position, for messages."""
ReadAnswers = Callable[[Sequence[Values], NameOf], np.ndarray]
"""Returns the values of answers as an array of one row per answer."""


class ProgramClient:
    """A program that computes values for a component; started at the first use.

    Parameters
    ----------
    program : Program
        The program.
    kind : str
        ``metric``, ``distance``, ``embedding`` or ``adapter``.
    parameters : mapping
        Parameters of the component, which are sent to the program.
    stored : bool
        Keep the answers on disk, and read them from there.
    """

    def __init__(
        self, program: Program, kind: str, parameters: Parameters, *, stored: bool
    ) -> None:
        self.program = program
        self.kind = kind
        self.parameters = dict(parameters)
        self.stored = stored
        self._exchange: Exchange | None = None
        self._greeting: Greeting | None = None
        self._store: ReplyStore | None = None
        self._owner = 0

    def __getstate__(self) -> Values:
        """Return the declaration: another process starts the program anew."""
        values = dict(vars(self))
        return {**values, "_exchange": None, "_store": None, "_owner": 0}

    @property
    def greeting(self) -> Greeting:
        """Greeting of the program, which is started for it."""
        if self._greeting is None:
            self._greeting = self._running().greeting
        end_with_run(self)
        return cast(Greeting, self._greeting)

    def signature(self, name: str) -> str:
        """Return a text that changes with everything that may change an answer."""
        greeting = self.greeting
        fields = [
            f"{name}|{greeting.name}:{greeting.version}",
            greeting.signature,
            f"program:{self.program.digest()}",
        ]
        fields += [
            f"{key}:{json.dumps(value, sort_keys=True)}"
            for key, value in sorted(self.parameters.items())
        ]
        return "|".join(filter(None, fields))

    def children(self) -> list[Child]:
        """Return the running processes."""
        return [] if self._exchange is None else self._exchange.children()

    def close(self) -> None:
        """End the program."""
        if self._exchange is not None:
            self._exchange.close()
        self._exchange = None

    def values(
        self, items: Iterable[Parameters], name_of: NameOf, read: ReadAnswers
    ) -> np.ndarray:
        """Return the values of items, one row each, in their order.

        Parameters
        ----------
        items : iterable of mapping
            Fields of the requests.
        name_of : callable
            Names of the items.
        read : callable
            Turns the answers of a chunk into an array; raises :class:`HarnessError` for
            values that are not as they must be.
        """
        found: dict[int, np.ndarray] = {}
        keys: dict[int, str] = {}

        def missing() -> Iterator[Chunk]:
            for chunk in self._chunks(items):
                if not self.stored:
                    yield chunk
                    continue
                keys[chunk.first] = _key(chunk)
                stored = self._read_stored(keys[chunk.first], len(chunk.bodies))
                if stored is None:
                    yield chunk
                else:
                    found[chunk.first] = stored

        def completed(chunk: Chunk) -> None:
            answers = cast("list[Values]", chunk.answers)
            values = read(answers, lambda row: name_of(chunk.first + row))
            found[chunk.first] = values
            # The texts of a long run need not stay.
            chunk.bodies = ()
            key = keys.pop(chunk.first, "")
            # An error may be gone at the next run, which else would not note it either.
            if self.stored and not any("error" in answer for answer in answers):
                self._answers().add(key, _pack(values))

        self.ask(missing(), name_of, completed)
        parts = [found[first] for first in sorted(found)]
        if len({part.shape[1:] for part in parts}) > 1:
            widths = sorted({part.shape[-1] for part in parts})
            raise HarnessError(
                f"{self.program.label}: the program answers vectors of the lengths "
                f"{', '.join(map(str, widths))}; expected one length"
            )
        return np.concatenate(parts) if parts else np.empty(0)

    def ask(
        self,
        chunks: Iterator[Chunk],
        name_of: NameOf,
        completed: Callable[[Chunk], None],
    ) -> None:
        """Ask for chunks (:meth:`Exchange.ask`); the program is started for the first
        one.
        """
        first = next(chunks, None)
        if first is None:
            return
        exchange = self._running()
        try:
            exchange.ask(itertools.chain([first], chunks), name_of, completed)
        except BaseException:
            self._exchange = None
            raise

    def chunks(self, items: Iterable[Parameters]) -> Iterator[Chunk]:
        """Yield the requests of items in batches."""
        return self._chunks(items)

    def _chunks(self, items: Iterable[Parameters]) -> Iterator[Chunk]:
        size = self.program.limits.batch
        bodies = map(encode_fields, items)
        first = 0
        while block := list(itertools.islice(bodies, size)):
            yield Chunk(first, block)
            first += len(block)

    def _running(self) -> Exchange:
        """Return the exchange with the program, started in this process."""
        end_with_run(self)
        if self._exchange is None or self._owner != os.getpid():
            hello = greet(self.kind, self.parameters)
            self._exchange = Exchange(self.program, self.kind, hello)
            self._owner = os.getpid()
            greeting = cast(Greeting, self._exchange.greeting)
            if self._greeting not in (None, greeting):
                self.close()
                raise HarnessError(
                    f"{self.program.label}: the program greets differently than "
                    f"before: {self._greeting} and {greeting}"
                )
            self._greeting = greeting
        return self._exchange

    def _answers(self) -> ReplyStore:
        """Return the store of the answers of this program and its parameters."""
        if self._store is None:
            text = f"{VERSION}|{self.kind}|{self.signature('')}"
            digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
            self._store = ReplyStore("programs", digest)
        return self._store

    def _read_stored(self, key: str, size: int) -> np.ndarray | None:
        row = self._answers().read([key]).get(key)
        values = None if row is None else _unpack(row)
        return values if values is not None and len(values) == size else None


def _key(chunk: Chunk) -> str:
    """Return the hash of the requests of a chunk."""
    digest = hashlib.sha256()
    for body in chunk.bodies:
        digest.update(body.encode("ascii"))
        digest.update(b"\n")
    return digest.hexdigest()


def _pack(values: np.ndarray) -> Values:
    """Return an array as JSON values, bit for bit."""
    data = np.ascontiguousarray(values)
    text = base64.b64encode(data.tobytes()).decode("ascii")
    return {"shape": list(data.shape), "type": data.dtype.str, "data": text}


def _unpack(row: Mapping[str, Any]) -> np.ndarray | None:
    """Return the array of :func:`_pack`; None for a row of another form."""
    try:
        if row["type"] not in ("<f4", "<f8"):
            return None
        data = base64.b64decode(row["data"], validate=True)
        return np.frombuffer(data, row["type"]).reshape(row["shape"]).copy()
    except (KeyError, TypeError, ValueError, binascii.Error):
        return None
