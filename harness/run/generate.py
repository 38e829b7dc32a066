"""Captions of a model under a decoding, answer by answer:
each is on disk as soon as it is there, in any order.

Token scores of references under a model are kept in the same way.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import fields, replace
from typing import Any, cast

from harness import __version__
from harness.contracts import (
    Adapter,
    Candidates,
    CountsUsage,
    Decoding,
    Example,
    Failure,
    GeneratesUnordered,
    Generation,
    OpensMedia,
    Prepares,
    StoreResult,
    TaskView,
    needs_whole_task,
)
from harness.errors import HarnessError
from harness.files.media import open_media
from harness.files.secrets import has_secrets, redact, redact_values
from harness.llm.store import SETTING, ReplyStore, is_shared
from harness.registry import current
from harness.run.example_store import BLOCK, ExampleStore, example_key
from harness.run.metric_plan import ModelPlan
from harness.run.progress import note
from harness.run.provenance import code_of
from harness.run.systems import PlannedSystem
from harness.rundir.answers import Answers, Row
from harness.rundir.artifact_key import ArtifactKey
from harness.rundir.artifacts import Artifacts, MemoryArtifacts
from harness.rundir.format import plain
from harness.spec.path_contents import component_with_contents
from harness.stats.seeds import derive

REQUEST_EXAMPLES = 256
"""Maximum number of examples per call of an adapter."""
_TEXTS = ("candidates", "references")
_NUMBERS = ("log_probs", "lengths", "stop_reasons", "held_out")
Ask = Callable[
    [ModelPlan, Sequence[Example], Decoding, Sequence[int], StoreResult], None
]
"""Gives one result of a model per example to the store, in any order: its adapter in
this process, or one elsewhere.
"""


def generate(
    model: ModelPlan,
    task: TaskView,
    *,
    seed: int,
    artifacts: Artifacts | None = None,
    advance: Callable[[int], None] = lambda n: None,
    span: tuple[int, int] | None = None,
    ask: Ask | None = None,
    prepared: bool = False,
    latest: deque[tuple[str, Example, Row]] | None = None,
) -> PlannedSystem:
    """Run a model over the examples of a task and return its captions, all of them.

    Answers that the run has are read, not generated again. No answer is kept of a model
    that failed on every example.

    Parameters
    ----------
    model : ModelPlan
        The model.
    task : TaskView
        Examples and decoding.
    seed : int
        Seed of the run; each example gets a seed derived from it and its id.
    artifacts : Artifacts, optional
        Artifacts of the run; None: kept in memory.
    advance : callable
        Called with the number of examples after each answer.
    span : tuple of int, optional
        First example and the end; None: all.
    ask : callable, optional
        Source of the answers; None: the adapter, in this process.
    prepared : bool
        :func:`prepare` was called with this task, and with no other one since.
    latest : deque, optional
        Takes model, example and row of every answer that arrives.

    Raises
    ------
    HarnessError
        The adapter returns another number of results than examples, or something that
        is no caption.
    """
    if not prepared:
        prepare(model, task)
    store = task.examples
    if not isinstance(store, ExampleStore):
        store = ExampleStore(store)
    work = _Work(
        model,
        task.decoding,
        store,
        seed,
        artifacts or MemoryArtifacts(),
        ask or ask_adapter,
        advance,
        latest,
    )

    # a range without examples is a block without rows
    start, stop = span or (0, len(store))
    ranges = list(blocks(start, stop)) or [(start, start)]
    system = PlannedSystem.join([work.block(first, last) for first, last in ranges])
    if system.failures and len(system.failures) == stop - start:
        # nothing to continue from: the next run asks the model again
        work.drop(start, stop)
    return system


def prepare(model: ModelPlan, task: TaskView) -> None:
    """Let the adapter check the whole task; raises the adapter's errors."""
    if isinstance(model.adapter, Prepares):
        model.adapter.prepare(task)


def blocks(start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a range that lie in different blocks of examples.

    >>> list(blocks(4000, 4100))
    [(4000, 4096), (4096, 4100)]
    """
    while start < stop:
        end = min(stop, (start // BLOCK + 1) * BLOCK)
        yield start, end
        start = end


class _Work:
    """Generation of one model and decoding."""

    def __init__(
        self,
        model: ModelPlan,
        decoding: Decoding,
        store: ExampleStore,
        seed: int,
        artifacts: Artifacts,
        ask: Ask,
        advance: Callable[[int], None],
        latest: deque[tuple[str, Example, Row]] | None,
    ) -> None:
        self.model = model
        self.decoding = decoding
        self.store = store
        self.seed = seed
        self.artifacts = artifacts
        self.ask = ask
        self.advance = advance
        self.latest = latest
        by_contents, by_texts = caption_identities(model, decoding, store, seed)
        self.identity = ArtifactKey.of(model.label, *by_contents)
        self._earlier = ArtifactKey.of(model.label, *by_texts)
        self._recent: dict[int, dict[str, Row]] = {}
        """Rows of the block that was read or generated last, by its number."""

        self._shared: ReplyStore | None = None
        self._earlier_shared: ReplyStore | None = None
        self._shared_keys: dict[int, str | None] = {}
        if is_shared(isinstance(model.adapter, CountsUsage)):
            self._shared = ReplyStore("answers", self.identity.digest)
            if self._earlier != self.identity:
                self._earlier_shared = ReplyStore("answers", self._earlier.digest)

    def key(self, block: int) -> ArtifactKey:
        """Return the key of the answers of a block."""
        return _block_key(self.identity, block)

    def drop(self, start: int, stop: int) -> None:
        """Remove the answers."""
        self.artifacts.drop_answers(
            [self.key(first // BLOCK) for first, _ in blocks(start, stop)]
        )

    def block(self, start: int, stop: int) -> PlannedSystem:
        """Return the captions of a range within a block; missing ones are generated."""
        answers = self.artifacts.answers(self.key(start // BLOCK))
        rows = dict(answers.read())
        missing = [
            index for index in range(start, stop) if self.store.key(index) not in rows
        ]
        self.advance(stop - start - len(missing))
        if missing:
            with closing(answers):
                missing = self._from_earlier_form(missing, rows, answers)
                missing = self._from_other_runs(missing, rows, answers)
                if missing:
                    self._ask_model(missing, rows, answers)
            if self._shared is not None:
                self._shared.close()

        self._recent = {start // BLOCK: rows}
        captions = [rows[self.store.key(index)] for index in range(start, stop)]
        return PlannedSystem.of_rows(
            self.model.label, self.store, captions, start, self.rows
        )

    def _ask_model(
        self, indices: list[int], rows: dict[str, Row], answers: Answers
    ) -> None:
        """Add the answers of the model for examples to ``rows``, to the file of this
        run and to those that runs share.
        """
        examples = [self.store[index] for index in indices]
        seeds = [derive(self.seed, example.id) for example in examples]
        # written when every request has ended: a run that gives up or is killed asks
        # again
        failed_rows: dict[str, Row] = {}

        def store(position: int, result: object) -> None:
            index = indices[position]
            item = as_generation(result, self.model.label)
            if isinstance(item, Generation):
                requested = item.candidates[: self.decoding.candidates or None]
                item = replace(item, candidates=requested)
            key = self.store.key(index)
            row = rows[key] = _to_row(item)

            if isinstance(item, Failure):
                failed_rows[key] = row
            else:
                answers.append(key, row)
                shared = self._shared_keys.get(index)
                if self._shared is not None and shared is not None:
                    self._shared.add(shared, plain(row))
            if self.latest is not None:
                self.latest.append((self.model.label, examples[position], row))
            self.advance(1)

        self.ask(self.model, examples, self.decoding, seeds, store)
        for key, row in failed_rows.items():
            answers.append(key, row)

        unanswered = [index for index in indices if self.store.key(index) not in rows]
        if unanswered:
            raise HarnessError(
                f"model '{self.model.label}' returned no result for "
                f"{len(unanswered)} of {len(indices)} examples"
            )

    def _from_earlier_form(
        self, missing: list[int], rows: dict[str, Row], answers: Answers
    ) -> list[int]:
        """Add the answers that this run received while paths counted as texts, and
        return the other examples.
        """
        if self._earlier == self.identity:
            return missing
        key = _block_key(self._earlier, missing[0] // BLOCK)
        earlier = self.artifacts.answers(key).read()
        present = [index for index in missing if self.store.key(index) in earlier]
        for index in present:
            key = self.store.key(index)
            rows[key] = earlier[key]
            answers.append(key, earlier[key])
        self.advance(len(present))
        return [index for index in missing if self.store.key(index) not in rows]

    def _from_other_runs(
        self, missing: list[int], rows: dict[str, Row], answers: Answers
    ) -> list[int]:
        """Add the answers that another run has received to ``rows`` and to the file of
        this run; return the other examples.
        """
        if self._shared is None:
            return missing
        adapter = self.model.adapter
        self._shared_keys = {
            index: shared_key(adapter, self.store[index]) for index in missing
        }
        keys = [key for key in self._shared_keys.values() if key is not None]
        shared = self._shared.read(keys)
        if self._earlier_shared is not None:
            shared = {**self._earlier_shared.read(keys), **shared}
            self._earlier_shared.close()

        present = {
            index: shared[key]
            for index, key in self._shared_keys.items()
            if key in shared
        }
        for index, row in present.items():
            rows[self.store.key(index)] = row
            answers.append(self.store.key(index), row)
        if present:
            note(
                f"{self.model.label}: {len(present):,} answers of earlier runs "
                f"({SETTING}=none asks again)"
            )
        self.advance(len(present))
        return [index for index in missing if index not in present]

    def rows(self, start: int, stop: int) -> list[Row]:
        """Return the rows of a range of examples, from the artifacts."""
        out: list[Row] = []
        for first, last in blocks(start, stop):
            number = first // BLOCK
            if number not in self._recent:
                self._recent = {number: self.artifacts.answers(self.key(number)).read()}
            stored = self._recent[number]
            out.extend(stored[self.store.key(index)] for index in range(first, last))
        return out


def _block_key(identity: ArtifactKey, block: int) -> ArtifactKey:
    return ArtifactKey.of(f"{block:06d} {identity.label}", identity.digest, block)


def shared_key(adapter: Adapter, example: Example) -> str | None:
    """Return the key of an example's answer for other runs, 32 hex digits; None for
    media that cannot be read.

    The content of a file that the adapter opens counts, not its name.
    """
    if example.media is None or not isinstance(adapter, OpensMedia):
        return example_key(example).hex()
    try:
        with open_media(example.media, adapter.media_folder) as file:
            digest = hashlib.file_digest(cast("Any", file), "sha256")
            content = digest.hexdigest()
    except (OSError, HarnessError):
        return None
    return example_key(example, content).hex()


def caption_identities(
    model: ModelPlan, decoding: Decoding, store: ExampleStore, seed: int
) -> tuple[list[object], list[object]]:
    """Return everything beside an example that its captions depend on, first with paths
    as what they name, then with paths as texts.

    The second form is that of runs whose manifest has no
    :data:`~harness.rundir.stored_paths.PATHS`. An adapter that needs the whole task
    (:func:`~harness.contracts.needs_whole_task`) depends on all examples. The code of
    an adapter counts, or the earlier code that its manifest declares to give the same
    captions.
    """
    entries = current().match_entries("adapters", model.name)
    code: object = entries[0].captions_of if len(entries) == 1 else None
    code = code or code_of([model.adapter])
    settings = {field.name: getattr(decoding, field.name) for field in fields(decoding)}
    task_digest = store.digest() if needs_whole_task(model.adapter) else ""
    others = [model.adapter.fingerprint(), code, settings, seed, task_digest]

    params = dict(model.params)
    component = component_with_contents("adapters", model.name, model.params)
    return (
        [__version__, model.name, component, *others],
        [__version__, model.name, params, *others],
    )


def as_generation(item: object, label: str) -> Generation | Failure:
    """Return the result of an adapter as a Generation or Failure; raise
    :class:`HarnessError` for anything else.
    """
    if isinstance(item, (Generation, Failure)):
        return item
    if isinstance(item, (tuple, list)):
        texts = cast("Sequence[object]", item)
        if all(isinstance(text, str) for text in texts):
            return Generation(tuple(cast(Candidates, texts)))
    raise HarnessError(
        f"model '{label}' returned {item!r:.80}; expected a tuple of captions, "
        "a Generation or a Failure"
    )


def ask_adapter(
    model: ModelPlan,
    examples: Sequence[Example],
    decoding: Decoding,
    seeds: Sequence[int],
    store: StoreResult,
) -> None:
    """Store the results of the adapter as they arrive; one that yields them in order is
    asked for :data:`REQUEST_EXAMPLES` at a time.
    """
    if isinstance(model.adapter, GeneratesUnordered):
        return model.adapter.generate_unordered(examples, decoding, seeds, store)
    for start in range(0, len(examples), REQUEST_EXAMPLES):
        stop = start + REQUEST_EXAMPLES
        results = results_of(
            model.adapter,
            model.label,
            examples[start:stop],
            decoding,
            seeds[start:stop],
        )
        for position, item in enumerate(results, start):
            store(position, item)


def results_of(
    adapter: Adapter,
    label: str,
    examples: Sequence[Example],
    decoding: Decoding,
    seeds: Sequence[int],
) -> Iterator[Generation | Failure]:
    """Yield the results of one call of an adapter;
    raise :class:`HarnessError` for another number of them.
    """
    count = 0
    for count, item in enumerate(adapter.generate(examples, decoding, seeds), 1):
        if count > len(examples):
            raise HarnessError(
                f"model '{label}' returned more than {len(examples)} results for "
                f"{len(examples)} examples"
            )
        yield as_generation(item, label)
    if count < len(examples):
        raise HarnessError(
            f"model '{label}' returned {count} results for {len(examples)} examples"
        )


def _to_row(item: Generation | Failure) -> Row:
    """Return a result as JSON types, without secrets."""
    if isinstance(item, Failure):
        return {"failure": redact(str(item.reason))}
    row: dict[str, object] = {}
    for name in _TEXTS:
        texts = getattr(item, name)
        if texts is not None:
            row[name] = [*map(str, texts)]
    for name in _NUMBERS:
        numbers = getattr(item, name)
        if numbers is not None:
            row[name] = plain(numbers)
    return cast(Row, redact_values(row)) if has_secrets() else row
