"""Components whose values a program computes: a metric, a distance, an embedding, an
adapter.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import ClassVar, cast

import numpy as np

from harness.contracts import (
    Batch,
    CaptionSet,
    Decoding,
    Example,
    Failure,
    Features,
    Generation,
    MeanMetric,
    MetricSpec,
    Parameterised,
    Parameters,
    TextDistance,
    Values,
)
from harness.contracts.metrics import State
from harness.contracts.models import StoreResult
from harness.errors import HarnessError, InputError
from harness.files.media import media_file
from harness.files.user_path import user_path
from harness.programs.client import ProgramClient
from harness.programs.declaration import MetricDeclaration
from harness.programs.exchange import Chunk
from harness.programs.program import Program
from harness.programs.values import read_captions, read_numbers, read_vectors


class ProgramComponent(Parameterised):
    """Base of components of programs.

    Parameters
    ----------
    program : Program
        The program.
    name : str
        Name of the component.
    parameters : mapping
        Parameters that are sent to the program.
    media : str, optional
        Folder of the media names of examples.
    stored : bool
        Answers are kept on disk.
    """

    kind: ClassVar[str]

    def __init__(
        self,
        program: Program,
        name: str,
        parameters: Parameters,
        media: str | None = None,
        *,
        stored: bool = True,
    ) -> None:
        self.program = program
        self.name = name
        self.media_folder = user_path(media) if media else None
        self.client = ProgramClient(program, self.kind, parameters, stored=stored)

    @property
    def label(self) -> str:
        """Kind and name for messages."""
        return self.program.label

    def signature(self) -> str:
        """Return name, greeting and parameters, with a hash of the program."""
        return self.client.signature(self.name)

    def media_path(self, media: str | None, example: str) -> str:
        """Return the absolute path of the media of an example; raise
        :class:`InputError` where there is none.
        """
        if not media:
            raise InputError(
                f"{self.label} needs images, and the example '{example}' has none"
            )
        file = media_file(media, self.media_folder)
        if not file.is_file():
            raise InputError(
                f"there is no file of the example '{example}'; set the parameter "
                f"images of {self.label} to its folder",
                str(file),
            )
        return str(file.absolute())


class ProgramMetric(ProgramComponent, MeanMetric):
    """Mean of the scores that a program computes.

    A program that needs ``candidate`` gets a request for each candidate, and the score
    of an example is their mean; one that needs ``candidates`` gets one request for each
    example. An item with an error has no score.
    """

    kind = "metric"

    def __init__(
        self,
        program: Program,
        name: str,
        parameters: Parameters,
        media: str | None = None,
        *,
        stored: bool = True,
        declared: MetricDeclaration | None = None,
    ) -> None:
        super().__init__(program, name, parameters, media, stored=stored)
        self._declared = declared

    @cached_property
    def needs(self) -> tuple[str, ...]:
        """Fields of the requests."""
        if self._declared is not None:
            return self._declared.needs
        return self.client.greeting.needs or ("candidate", "references")

    @cached_property
    def spec(self) -> MetricSpec:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The specification: as declared, else as the program says."""
        if self._declared is not None:
            direction, bounds = self._declared.direction, self._declared.bounds
        else:
            greeting = self.client.greeting
            direction, bounds = greeting.direction, greeting.bounds
        kinds = {"references": "references", "image": "images"}
        return MetricSpec(
            self.name,
            direction,
            level="set" if "candidates" in self.needs else "item",
            needs=frozenset(kinds[need] for need in self.needs if need in kinds),
            bounds=bounds,
        )

    def signature(self) -> str:
        """Return name, greeting and parameters, with a hash of the program.

        Raises :class:`HarnessError` where the program says of itself something else
        than its declaration.
        """
        if self._declared is not None:
            self._declared.check(self.client.greeting, self.label)
        return super().signature()

    def scores(self, batch: Batch, features: Features, state: State) -> np.ndarray:
        """Return the scores of the program, float64, shape (B,)."""
        if "candidates" in self.needs:
            return self._numbers(batch, 1)[:, 0]
        return self._numbers(batch, batch.n).mean(axis=1)

    def candidate_scores(
        self, batch: Batch, features: Features, state: State
    ) -> np.ndarray:
        """Return the score of each candidate, float64, shape (B, n)."""
        if "candidates" in self.needs:
            raise HarnessError(f"{self.label} scores sets, not single candidates")
        return self._numbers(batch, batch.n)

    def _numbers(self, batch: Batch, per_example: int) -> np.ndarray:
        """Return the numbers of the requests of each example, (B, per_example)."""

        def name_of(position: int) -> str:
            example, candidate = divmod(position, per_example)
            name = f"example '{batch.sets[example].id}'"
            return f"{name}, candidate {candidate + 1}" if per_example > 1 else name

        read = partial(
            read_numbers, label=self.label, bounds=self.spec.bounds, may_fail=True
        )
        numbers = self.client.values(self._items(batch.sets), name_of, read)
        return numbers.reshape(len(batch), per_example)

    def requests(self, sets: Iterable[CaptionSet]) -> list[Values]:
        """Return the fields of the requests of caption sets."""
        return list(self._items(sets))

    def _items(self, sets: Iterable[CaptionSet]) -> Iterator[Values]:
        """Yield the fields of the requests."""
        needs = self.needs
        for item in sets:
            shared: Values = {}
            if "references" in needs:
                shared["references"] = item.references
            if "image" in needs:
                shared["image"] = self.media_path(item.media, item.id)
            if "source" in needs:
                shared["source"] = item.source
            if "candidates" in needs:
                yield {"candidates": item.candidates, **shared}
                continue
            for text in item.candidates:
                yield {"candidate": text, **shared}


class ProgramDistance(ProgramComponent, TextDistance):
    """Distance of two texts that a program computes."""

    kind = "distance"

    def pairwise(self, texts: Sequence[str]) -> np.ndarray:
        """Return the distances of all pairs, float64, shape (T, T)."""
        return self._matrices([list(texts)])[0]

    def matrices(self, batch: Batch, features: Features) -> np.ndarray:
        """Return the distances of all pairs of each example, float64, (B, N, N); the
        program is asked for all examples at once.
        """
        return self._matrices(batch.texts)

    def _matrices(self, examples: Sequence[Sequence[str]]) -> np.ndarray:
        half = self.client.greeting.symmetric
        # Pairs of different texts of each example, each once; in order.
        positions: dict[tuple[str, str], int] = {}
        for texts in examples:
            distinct = list(dict.fromkeys(texts))
            for i, first in enumerate(distinct):
                for second in distinct[i + 1 :]:
                    pairs = [(first, second), (second, first)]
                    for pair in sorted(pairs)[:1] if half else pairs:
                        positions.setdefault(pair, len(positions))
        asked = list(positions)

        def name_of(position: int) -> str:
            first, second = asked[position]
            return f"the pair {first!r:.60}, {second!r:.60}"

        items = ({"hypothesis": a, "reference": b} for a, b in asked)
        read = partial(
            read_numbers, label=self.label, bounds=(0.0, np.inf), may_fail=False
        )
        values = self.client.values(items, name_of, read)
        if np.isnan(values).any():
            pair = name_of(int(np.isnan(values).argmax()))
            raise HarnessError(
                f"{self.label}: the program answers null for {pair}; expected a number"
            )

        def distance(first: str, second: str) -> float:
            if first == second:
                return 0.0
            pair = (first, second)
            if half:
                pair = min(pair, (second, first))
            return values[positions[pair]]

        return np.array(
            [[[distance(a, b) for b in texts] for a in texts] for texts in examples],
            dtype=np.float64,
        )


class ProgramEmbedding(ProgramComponent):
    """Embedding of texts by a program."""

    kind = "embedding"

    def fit(self, references: Sequence[Sequence[str]]) -> None:
        """Do nothing: a vector depends on its text alone."""

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return the vectors, float32, shape (T, d)."""
        texts = list(texts)
        items = ({"text": text} for text in texts)
        read = partial(read_vectors, label=self.label)
        return self.client.values(
            items, lambda position: f"the text {texts[position]!r:.60}", read
        )


class ProgramAdapter(ProgramComponent):
    """Captions of a program.

    A request has ``image`` or ``source``, as the example has them, the number of
    candidates, a seed of the example and the decoding. An item with an error is a
    failure of its example.
    """

    kind = "adapter"

    def fingerprint(self) -> str:
        """Return name, greeting and parameters, with a hash of the program."""
        return self.signature()

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterator[Generation | Failure]:
        """Yield the captions of each example, in order."""
        results: dict[int, Generation | Failure] = {}
        self.generate_unordered(examples, decoding, seeds, results.__setitem__)
        for position in range(len(examples)):
            yield results[position]

    def generate_unordered(
        self,
        examples: Sequence[Example],
        decoding: Decoding,
        seeds: Sequence[int],
        store: StoreResult,
    ) -> None:
        """Call ``store(position, result)`` for each example once its batch is
        complete.
        """

        def name_of(position: int) -> str:
            return f"example '{examples[position].id}'"

        def completed(chunk: Chunk) -> None:
            for row, answer in enumerate(cast("list[Values]", chunk.answers)):
                position = chunk.first + row
                if "error" in answer:
                    store(position, Failure(f"{answer['error']!s:.300}"))
                    continue
                captions = read_captions(
                    answer, name_of(position), decoding.candidates, self.label
                )
                store(position, Generation(tuple(captions)))

        items = self._items(examples, decoding, seeds)
        self.client.ask(self.client.chunks(items), name_of, completed)

    def requests(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> list[Values]:
        """Return the fields of the requests of examples."""
        return list(self._items(examples, decoding, seeds))

    def _items(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterator[Values]:
        settings = {
            name: getattr(decoding, name)
            for name in (
                "strategy",
                "temperature",
                "top_p",
                "top_k",
                "beams",
                "length_penalty",
                "max_length",
            )
        }
        settings |= dict(decoding.options)
        for example, seed in zip(examples, seeds):
            item: Values = {"example": example.id, "n": decoding.candidates}
            # Numbers of JavaScript and jq hold 53 bits.
            item["seed"] = seed >> 10
            item["decoding"] = settings
            if example.source is not None:
                item["source"] = example.source
            if example.media:
                item["image"] = self._image(example.media)
            yield item

    def _image(self, media: str) -> str:
        """Return the path of a file that is there, else the name of the example."""
        file = media_file(media, self.media_folder or Path(os.curdir))
        return str(file.absolute()) if file.is_file() else media
