"""Checks of components that other people write: does it meet the contract of its kind?

``check_metric(Mine())`` and its siblings return a list of :class:`Outcome`; :func:`parametrize_with_checks` makes one pytest test
of each check; ``harness check package.module:Class`` (or a name of the registry) prints them as a table::

    from harness.testing import parametrize_with_checks

    @parametrize_with_checks([Words(), {"trm": {"distance": "mine"}}])
    def test_contract(check):
        check()

Every check is a function with one line of what it asks for. What it cannot ask of a component is *not applicable*, with the reason.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.contracts import CaptionSet, Decoding, Example
from harness.testing.parametrized import parametrize_with_checks
from harness.testing.results import NotApplicable, Outcome, Violation
from harness.testing.targets import checks_of, subject_of

__all__ = [
    "NotApplicable",
    "Outcome",
    "Violation",
    "check_adapter",
    "check_distance",
    "check_embedding",
    "check_metric",
    "check_reader",
    "check_task",
    "parametrize_with_checks",
]

Expected = Mapping[str, str] | None


def check_metric(
    metric: Any,
    *,
    sets: Sequence[CaptionSet] | None = None,
    skip: Collection[str] = (),
    expected_failures: Expected = None,
) -> list[Outcome]:
    """The outcomes of all checks of a metric: an instance, a class without needed parameters, or a name or ``{name: {params}}``.

    ``sets``: caption sets of one shape (at least 4 of 3 + 3 texts, say) where the metric needs images or meta data; else the kit's own.
    ``skip``: checks left out. ``expected_failures``: check -> reason. Raises :class:`HarnessError` for what cannot be made.
    """
    return _checked("metrics", metric, skip, expected_failures, sets=sets)


def check_distance(
    distance: Any,
    *,
    sets: Sequence[CaptionSet] | None = None,
    skip: Collection[str] = (),
    expected_failures: Expected = None,
) -> list[Outcome]:
    """The outcomes of all checks of a distance; parameters as of :func:`check_metric`."""
    return _checked("distances", distance, skip, expected_failures, sets=sets)


def check_embedding(embedding: Any, *, skip: Collection[str] = (), expected_failures: Expected = None) -> list[Outcome]:
    """The outcomes of all checks of an embedding; parameters as of :func:`check_metric`."""
    return _checked("embeddings", embedding, skip, expected_failures)


def check_adapter(
    adapter: Any,
    *,
    examples: Sequence[Example] | None = None,
    decoding: Decoding | None = None,
    skip: Collection[str] = (),
    expected_failures: Expected = None,
) -> list[Outcome]:
    """The outcomes of all checks of an adapter on ``examples`` (at least 4 with different ids; None: the kit's own, texts alone)."""
    return _checked("adapters", adapter, skip, expected_failures, examples=examples, decoding=decoding)


def check_reader(reader: Any, *, skip: Collection[str] = (), expected_failures: Expected = None) -> list[Outcome]:
    """The outcomes of all checks of a reader, on its first examples."""
    return _checked("readers", reader, skip, expected_failures)


def check_task(path: str | Path, *, skip: Collection[str] = (), expected_failures: Expected = None) -> list[Outcome]:
    """The outcomes of all checks of a task: a YAML file, or the name of a shipped one. The check ``runs`` runs its first examples:
    put it into ``skip`` where models are trained on first use."""
    return _checked("tasks", path, skip, expected_failures)


def _checked(kind: str, component: Any, skip: Collection[str], expected: Expected, **settings: Any) -> list[Outcome]:
    return checks_of(kind).run(subject_of(kind, component, **settings), skip=skip, expected_failures=expected)
