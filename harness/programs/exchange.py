"""The exchange with the processes of a program: batches of requests, answers in any
order, restarts.

All streams of all processes are read and written as they allow, in one loop, so that a
program may answer early, late, or after the last request of its batch, and may write to
standard error whatever it likes. A process that ends too early is started again and its
batches are asked once more, one at a time; then their requests, one at a time; the
request that ends the process again is the one at fault.
"""

from __future__ import annotations

import selectors
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from harness.contracts import Values
from harness.files.announcements import announce
from harness.programs.child import Child
from harness.programs.program import Program
from harness.programs.protocol import (
    Greeting,
    ProgramFault,
    announce_batch,
    pack_vector,
    parse_answers,
    parse_greeting,
    request_line,
)

_DEAF_SECONDS = 5.0
"""Seconds in which a process that has closed its input may still answer."""
_SILENCE = 5.0
"""Seconds without a greeting after which a line says what is waited for."""
_FEW_BYTES = 4096
_PAUSE = 0.0005
"""Seconds that a process which answers in small pieces is left to go on, so that the
cost of a turn of the loop is shared by many answers.
"""


@dataclass(eq=False)
class Chunk:
    """Items that are asked, stored and read together."""

    first: int
    """Position of the first item."""
    bodies: Sequence[str]
    """Fields of the requests as JSON."""
    answers: list[Values | None] = field(init=False)
    missing: int = field(init=False)

    def __post_init__(self) -> None:
        """Wait for one answer per item."""
        self.answers = [None] * len(self.bodies)
        self.missing = len(self.bodies)


@dataclass(eq=False)
class RequestBatch:
    """Requests of a chunk that a process has or shall have."""

    chunk: Chunk
    positions: Sequence[int]
    deaths: int = 0
    """Number of processes that ended while they had the batch."""
    first_id: int = 0
    size: int = 0
    """Bytes of the requests."""

    @property
    def unanswered(self) -> list[int]:
        """Positions in the chunk that have no answer."""
        return [i for i in self.positions if self.chunk.answers[i] is None]


class _Worker:
    """A process with its batches in flight."""

    def __init__(self, child: Child) -> None:
        self.child = child
        self.in_flight: deque[RequestBatch] = deque()
        self.pending: dict[int, RequestBatch] = {}
        self.deadline = 0.0
        self.answered = False
        """True once the first batch is complete."""
        self.writes = False


class Exchange:
    """The running processes of a program.

    Parameters
    ----------
    program : Program
        The program.
    kind : str
        Kind of the component, for its greeting.
    hello : bytes
        First line to each process.
    """

    def __init__(self, program: Program, kind: str, hello: bytes) -> None:
        self.program = program
        self.kind = kind
        self.label = program.label
        self.greeting: Greeting | None = None
        self._hello = hello
        self._arguments = program.arguments()
        self._variables = program.variables()
        self._selector = selectors.DefaultSelector()
        # Not as data of the selector, which refers to itself and would hold them.
        self._worker_of: dict[int, _Worker] = {}
        self._next_id = 0
        self._batch_number = 0
        # A process ended: batches go out one at a time until those it had are done.
        self._careful: set[RequestBatch] = set()
        self._workers: list[_Worker] = []
        for _ in range(program.limits.replicas):
            self._workers.append(self._start())
        with announce(f"{self.label}: waiting for its program", after=_SILENCE):
            for worker in self._workers:
                self._greet(worker)

    def children(self) -> list[Child]:
        """Return the running processes."""
        return [worker.child for worker in self._workers]

    def close(self) -> None:
        """End the processes."""
        # All have the time in which one may end by itself.
        for worker in self._workers:
            self._forget(worker)
            worker.child.end_input()
        for worker in self._workers:
            worker.child.close()

    def kill(self) -> None:
        """End the processes at once."""
        for worker in self._workers:
            self._forget(worker)
            worker.child.kill()

    def ask(
        self,
        chunks: Iterator[Chunk],
        name_of: Callable[[int], str],
        completed: Callable[[Chunk], None],
    ) -> None:
        """Ask for the answers of chunks and call ``completed`` with each as soon as it
        has all of them, in any order.

        Raises
        ------
        ProgramFault
            The program breaks the protocol, takes too long, or ends at an item twice.
            Its processes are ended.
        """
        queue: deque[RequestBatch] = deque()
        try:
            while True:
                self._fill(queue, chunks)
                if not any(worker.in_flight for worker in self._workers):
                    return
                for worker in self._turn():
                    for chunk in self._read(worker, name_of):
                        completed(chunk)
                    if worker.child.ended:
                        self._replace(worker, queue, name_of)
                self._check_time(name_of)
        except BaseException:
            # Answers under way belong to nobody.
            self.kill()
            raise

    def _start(self) -> _Worker:
        """Start a process and send its greeting."""
        memory = int((self.program.limits.memory_gb or 0) * 1e9)
        child = Child(self.label, self._arguments, self._variables, memory)
        worker = _Worker(child)
        worker.deadline = time.monotonic() + self.program.limits.start_seconds
        for descriptor in (child.output, child.errors):
            self._watch(descriptor, selectors.EVENT_READ, worker)
        child.send(self._hello)
        return worker

    def _greet(self, worker: _Worker) -> None:
        """Wait for the greeting of a process; all processes must say the same."""
        child = worker.child
        lines: list[bytes] = []
        try:
            while not lines:
                if worker not in self._turn():
                    # Another process may be ready already.
                    time.sleep(_PAUSE)
                lines = child.read()
                if child.ended and not lines:
                    # It has a folder of its own, so that its words name another place.
                    how = self.program.missing_file() or child.describe_end()
                    raise ProgramFault(
                        f"{self.label}: the program ended before its greeting ({how})"
                    )
                if time.monotonic() > worker.deadline and not lines:
                    raise ProgramFault(
                        f"{self.label}: the program gave no greeting within "
                        f"{self.program.limits.start_seconds:g} s "
                        "(limits: start_seconds)"
                    )
            greeting = parse_greeting(lines[0], self.label, self.kind)
            if len(lines) > 1:
                list(parse_answers(lines[1:], self.label))
                raise ProgramFault(
                    f"{self.label}: the program answers before it is asked"
                )
            if self.greeting not in (None, greeting):
                raise ProgramFault(
                    f"{self.label}: two processes of the program greet differently: "
                    f"{self.greeting} and {greeting}"
                )
        except BaseException:
            self.kill()
            raise
        self.greeting = greeting

    def _fill(self, queue: deque[RequestBatch], chunks: Iterator[Chunk]) -> None:
        """Give each process batches up to its limits."""
        limits = self.program.limits
        for position, worker in enumerate(self._workers):
            most = 1 if self._careful else limits.in_flight
            while len(worker.in_flight) < most:
                in_flight = sum(batch.size for batch in worker.in_flight)
                if worker.in_flight and in_flight >= limits.bytes_in_flight:
                    break
                if not queue:
                    chunk = next(chunks, None)
                    if chunk is None:
                        break
                    queue.append(RequestBatch(chunk, range(len(chunk.bodies))))
                if worker.child.ended:
                    worker = self._workers[position] = self._start()
                    self._greet(worker)
                self._send(worker, queue.popleft())

    def _send(self, worker: _Worker, batch: RequestBatch) -> None:
        """Queue the requests of a batch for a process."""
        bodies = batch.chunk.bodies
        batch.first_id = self._next_id
        identities = range(self._next_id, self._next_id + len(batch.positions))
        self._next_id = identities.stop
        self._batch_number += 1
        lines = [announce_batch(self._batch_number, len(batch.positions))]
        lines += [
            request_line(identity, bodies[position])
            for identity, position in zip(identities, batch.positions)
        ]
        data = "".join(lines).encode("ascii")
        batch.size = len(data)
        worker.child.send(data)
        worker.pending.update(dict.fromkeys(identities, batch))
        if not worker.in_flight:
            self._set_deadline(worker)
        worker.in_flight.append(batch)

    def _set_deadline(self, worker: _Worker) -> None:
        limits = self.program.limits
        seconds = limits.batch_seconds if worker.answered else limits.start_seconds
        if not worker.child.accepts_input:
            seconds = min(seconds, _DEAF_SECONDS)
        worker.deadline = time.monotonic() + seconds

    def _turn(self) -> list[_Worker]:
        """Write and read what the processes take and give; return those with answers or
        at their end.
        """
        for worker in self._workers:
            self._watch_input(worker)
        ready: list[_Worker] = []
        for key, _ in self._selector.select(0.2):
            worker = self._worker_of[key.fd]
            child = worker.child
            if key.fd == child.errors:
                if child.error_lines.read() is False:
                    self._unwatch(child.errors)
            elif key.fd == child.output:
                ready.append(worker)
            else:
                self._write(worker)
        return ready

    def _write(self, worker: _Worker) -> None:
        """Write what a process takes; one that takes no more may still answer."""
        worker.child.write()
        if not worker.child.accepts_input:
            self._set_deadline(worker)

    def _watch(self, descriptor: int, event: int, worker: _Worker) -> None:
        self._selector.register(descriptor, event)
        self._worker_of[descriptor] = worker

    def _unwatch(self, descriptor: int) -> None:
        self._selector.unregister(descriptor)
        del self._worker_of[descriptor]

    def _watch_input(self, worker: _Worker) -> None:
        """Watch the input of a process while there is something to write."""
        wanted = worker.child.has_unsent
        if wanted and not worker.writes:
            self._write(worker)
            wanted = worker.child.has_unsent
        if wanted and not worker.writes:
            self._watch(worker.child.input, selectors.EVENT_WRITE, worker)
        elif worker.writes and not wanted:
            self._unwatch(worker.child.input)
        worker.writes = wanted

    def _read(self, worker: _Worker, name_of: Callable[[int], str]) -> list[Chunk]:
        """Take the answers of a process; return the chunks that are complete."""
        lines = worker.child.read()
        if not lines:
            return []
        pending = worker.pending
        complete: list[Chunk] = []
        for answer in parse_answers(lines, self.label):
            identity = answer.get("id")
            batch = pending.pop(identity, None) if type(identity) is int else None
            if batch is None or identity is None:
                raise self._unasked(answer, worker)
            if self.kind == "embedding":
                pack_vector(answer)
            chunk = batch.chunk
            chunk.answers[batch.positions[identity - batch.first_id]] = answer
            chunk.missing -= 1
            if not chunk.missing:
                complete.append(chunk)

        if sum(map(len, lines)) < _FEW_BYTES and pending:
            time.sleep(_PAUSE)
        done = (
            [batch for batch in worker.in_flight if not batch.unanswered]
            if (complete or self._careful)
            else []
        )
        for batch in done:
            worker.in_flight.remove(batch)
            self._careful.discard(batch)
            worker.answered = True
            self._set_deadline(worker)
        return complete

    def _unasked(self, answer: Values, worker: _Worker) -> ProgramFault:
        """Return the error of an answer to no request."""
        identity = answer.get("id")
        if "id" not in answer:
            text = f"the program printed {answer!r:.60}, an answer without 'id'"
        elif type(identity) is int and 0 <= identity < self._next_id:
            text = f"the program answered the id {identity} twice"
        else:
            first = next(iter(worker.pending), None)
            text = (
                f"the program answered the id {identity!r:.40}, which was not asked "
                f"(such as {first})"
            )
        return ProgramFault(f"{self.label}: {text}")

    def _replace(
        self, worker: _Worker, queue: deque[RequestBatch], name_of: Callable[[int], str]
    ) -> None:
        """Queue what a process that has ended had; raise :class:`ProgramFault` for the
        request at which it ended twice.
        """
        lost = list(worker.in_flight)
        how = worker.child.describe_end()
        again: list[RequestBatch] = []
        for batch in lost:
            unanswered = batch.unanswered
            self._careful.discard(batch)
            if len(unanswered) == 1 and batch.deaths:
                name = name_of(batch.chunk.first + unanswered[0])
                raise ProgramFault(
                    f"{self.label}: the program ended twice at {name} ({how})"
                )
            groups = [[i] for i in unanswered] if batch.deaths else [unanswered]
            again += [
                RequestBatch(batch.chunk, group, batch.deaths + 1)
                for group in groups
                if group
            ]
        self._forget(worker)
        worker.child.kill()
        self._careful.update(again)
        queue.extendleft(reversed(again))

    def _forget(self, worker: _Worker) -> None:
        """Watch a process no more."""
        child = worker.child
        for descriptor in (child.output, child.errors, child.input):
            # Another process may have the number of one that is closed.
            if self._worker_of.get(descriptor) is worker:
                self._unwatch(descriptor)
        worker.in_flight.clear()
        worker.pending.clear()
        worker.writes = False

    def _check_time(self, name_of: Callable[[int], str]) -> None:
        """Raise :class:`ProgramFault` for a process that takes too long."""
        now = time.monotonic()
        for worker in self._workers:
            if not worker.in_flight or now <= worker.deadline:
                continue
            limits = self.program.limits
            name = "batch_seconds" if worker.answered else "start_seconds"
            batch = worker.in_flight[0]
            unanswered = batch.unanswered
            item = name_of(batch.chunk.first + unanswered[0])
            within = f"within {getattr(limits, name):g} s (limits: {name})"
            if not worker.child.accepts_input:
                within = "and has closed its input"
            raise ProgramFault(
                f"{self.label}: the program has not answered {len(unanswered)} of "
                f"{len(batch.positions)} requests {within}, the first for {item}"
            )
