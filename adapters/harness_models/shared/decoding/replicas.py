"""Work spread over replicas of a model: each takes the next items when it is free,
results come in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from threading import Condition, Thread
from typing import Any, Generic

from harness_models.shared.decoding.batches import R, T


@dataclass
class Replica(Generic[T, R]):
    """One of several equal workers."""

    work: Callable[[Sequence[T]], Iterable[R]]
    """Function from items to one result per item."""
    size: Callable[[], int]
    """Return the number of items to take at a time."""


@dataclass
class _Shared:
    """Progress that the threads share."""

    results: dict[int, list[Any]] = field(default_factory=dict)
    """Results by the index of their first item."""
    next: int = 0
    """Index of the first item that nobody has taken."""
    error: BaseException | None = None
    change: Condition = field(default_factory=Condition)


def spread(items: Sequence[T], replicas: Sequence[Replica[T, R]]) -> Iterator[R]:
    """Yield the results of all items in order;
    each replica works in a thread of its own.

    A replica takes ``size()`` items, and fewer towards the end, so that all finish at
    about the same time. An error of one replica stops the others after their current
    items and is raised.

    Examples
    --------
    >>> double = Replica(lambda part: [2 * item for item in part], lambda: 2)
    >>> list(spread([1, 2, 3, 4, 5], [double, double]))
    [2, 4, 6, 8, 10]
    """
    shared = _Shared()
    threads = [
        Thread(
            target=_run,
            args=(items, replica, shared, len(replicas)),
            name=f"replica-{i}",
            daemon=True,
        )
        for i, replica in enumerate(replicas)
    ]
    for thread in threads:
        thread.start()

    position = 0
    try:
        while position < len(items):
            with shared.change:
                shared.change.wait_for(
                    lambda at=position: shared.error is not None or at in shared.results
                )
                if shared.error is not None:
                    raise shared.error
                results = shared.results.pop(position)
            yield from results
            position += len(results)
    finally:
        with shared.change:
            shared.next = len(items)

        for thread in threads:
            thread.join()


def _run(
    items: Sequence[T], replica: Replica[T, R], shared: _Shared, replicas: int
) -> None:
    """Take items until there are none."""
    while True:
        with shared.change:
            start = shared.next
            left = len(items) - shared.next
            if left <= 0:
                return
            shared.next = start + min(replica.size(), -(-left // replicas))
            stop = shared.next

        try:
            results = list(replica.work(items[start:stop]))
            if len(results) != stop - start:
                raise RuntimeError(
                    f"a replica returned {len(results)} results for {stop - start} "
                    "items"
                )
        except BaseException as error:
            with shared.change:
                shared.error = shared.error or error
                shared.next = len(items)
                shared.change.notify_all()
            return
        with shared.change:
            shared.results[start] = results
            shared.change.notify_all()
