"""Checks of a metric's specification, and of its agreement with the catalogue."""

from __future__ import annotations

from typing import get_args

from harness.contracts import Level
from harness.testing import shared_checks
from harness.testing.metric_subject import MetricSubject, TokenScoreSubject
from harness.testing.results import Checks, NotApplicable, ensure

SPEC_CHECKS = Checks("metrics")
NEEDS = frozenset({"references", "images", "embeddings", "logprobs", "java", "events"})
"""Needs that a metric can declare."""


@SPEC_CHECKS.add
def spec(subject: MetricSubject | TokenScoreSubject) -> None:
    """The fields of ``spec`` have valid values."""
    fields = subject.component.spec
    ensure(fields.name.strip(), "spec.name is empty")
    levels = get_args(Level)
    ensure(
        fields.level in levels,
        f"spec.level is {fields.level!r}; levels are {', '.join(levels)}",
    )
    ensure(
        fields.higher_is_better in (True, False, None),
        "spec.higher_is_better is neither true, false nor None",
    )
    ensure(
        isinstance(fields.needs, frozenset),
        f"spec.needs is {fields.needs!r}; expected a frozenset",
    )

    unknown = sorted(fields.needs - NEEDS)
    ensure(
        not unknown, f"spec.needs contains {unknown}; valid needs are {sorted(NEEDS)}"
    )
    ensure(
        fields.bounds is None or fields.bounds[0] < fields.bounds[1],
        f"spec.bounds are {fields.bounds}",
    )

    # a metric of level model reads token scores, not sets of texts
    if fields.level == "model":
        return
    for name in ("min_candidates", "min_references", "min_texts"):
        minimum = getattr(fields, name)
        ensure(minimum >= 1, f"spec.{name} is {minimum}; expected at least 1")


@SPEC_CHECKS.add
def catalogue(subject: MetricSubject | TokenScoreSubject) -> None:
    """Level, direction and needs in the catalogue are those of ``spec``."""
    entry = subject.entry
    fields = subject.component.spec
    if entry is None:
        raise NotApplicable("is not checked by its name in the catalogue")

    ensure(
        not entry.level or entry.level == fields.level,
        f"level is {entry.level} in the catalogue and {fields.level} in spec",
    )
    ensure(
        entry.higher_is_better in (None, fields.higher_is_better),
        f"higher_is_better is {entry.higher_is_better} in the catalogue and "
        f"{fields.higher_is_better} in spec",
    )

    missing = sorted(set(entry.needs) - fields.needs)
    ensure(
        not missing,
        f"the catalogue lists the needs {missing}, which spec.needs does not contain",
    )
    ensure(entry.summary, "has no summary in the catalogue")


SPEC_CHECKS.extend([shared_checks.described, shared_checks.signature])
