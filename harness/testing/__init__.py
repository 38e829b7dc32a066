"""Conformance checks of components: does a metric, distance, embedding, adapter, reader
or task meet the contract of its kind?

In: an instance, a class, or a name of the registry. Out: :class:`Outcome` objects, one
per check. ``check_metric(Mine())`` and its siblings return them as a list;
:func:`parametrize_with_checks` generates one pytest test of each check;
``harness check package.module:Class`` prints them as a table::

    from harness.testing import parametrize_with_checks


    @parametrize_with_checks([Words(), {"trm": {"distance": "mine"}}])
    def test_contract(check):
        check()

Every check is a function; the first paragraph of its docstring states the requirement.
A check that does not apply to a component is *not applicable*, with the reason.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.contracts import CaptionSet, Decoding, Example
from harness.testing.parametrized import parametrize_with_checks
from harness.testing.results import Instance, NotApplicable, Outcome, Violation
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
    metric: Instance,
    *,
    sets: Sequence[CaptionSet] | None = None,
    skip: Collection[str] = (),
    expected_failures: Expected = None,
) -> list[Outcome]:
    """Return the outcomes of all checks of a metric.

    Parameters
    ----------
    metric : object
        An instance, a class that needs no parameters, a name of the registry, or
        ``{name: {params}}``.
    sets : sequence of CaptionSet, optional
        Caption sets of one shape with different ids, for a metric that needs images or
        metadata: at least four, of three candidates and three references or more.
        Default: the samples of the kit.
    skip : collection of str
        Ids of checks to leave out.
    expected_failures : mapping, optional
        Check id -> reason.

    Raises
    ------
    HarnessError
        When the metric cannot be constructed or lacks a member of its kind; when a
        check id is unknown.
    """
    return _outcomes("metrics", metric, skip, expected_failures, sets=sets)


def check_distance(
    distance: Instance,
    *,
    sets: Sequence[CaptionSet] | None = None,
    skip: Collection[str] = (),
    expected_failures: Expected = None,
) -> list[Outcome]:
    """Return the outcomes of all checks of a distance;
    parameters and errors as of :func:`check_metric`.
    """
    return _outcomes("distances", distance, skip, expected_failures, sets=sets)


def check_embedding(
    embedding: Any, *, skip: Collection[str] = (), expected_failures: Expected = None
) -> list[Outcome]:
    """Return the outcomes of all checks of an embedding;
    parameters and errors as of :func:`check_metric`.
    """
    return _outcomes("embeddings", embedding, skip, expected_failures)


def check_adapter(
    adapter: Instance,
    *,
    examples: Sequence[Example] | None = None,
    decoding: Decoding | None = None,
    skip: Collection[str] = (),
    expected_failures: Expected = None,
) -> list[Outcome]:
    """Return the outcomes of all checks of an adapter;
    further parameters and errors as of :func:`check_metric`.

    Parameters
    ----------
    examples : sequence of Example, optional
        At least four examples with different ids. Default: the samples of the kit,
        which are texts without media.
    decoding : Decoding, optional
        Decoding settings. Default: greedy.
    """
    return _outcomes(
        "adapters",
        adapter,
        skip,
        expected_failures,
        examples=examples,
        decoding=decoding,
    )


def check_reader(
    reader: Instance, *, skip: Collection[str] = (), expected_failures: Expected = None
) -> list[Outcome]:
    """Return the outcomes of all checks of a reader, on its first examples; parameters
    as of :func:`check_metric`.
    """
    return _outcomes("readers", reader, skip, expected_failures)


def check_task(
    path: str | Path, *, skip: Collection[str] = (), expected_failures: Expected = None
) -> list[Outcome]:
    """Return the outcomes of all checks of a task: the path of a YAML file,
    or the name of a shipped task.

    The check ``runs`` runs the first examples of the task: skip it where models are
    trained on first use.
    """
    return _outcomes("tasks", path, skip, expected_failures)


def _outcomes(
    kind: str,
    component: Instance,
    skip: Collection[str],
    expected: Expected,
    **settings: Any,
) -> list[Outcome]:
    return checks_of(kind).run(
        subject_of(kind, component, **settings), skip=skip, expected_failures=expected
    )
