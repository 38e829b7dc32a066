"""MQM tables: errors with a category and a severity."""

from __future__ import annotations

import re

from harness.contracts import JudgedCaption
from harness.errors import InputError
from harness.judgments.collection import Collection
from harness.judgments.fields import lookup

_WEIGHTS = {
    "critical": 25.0,
    "major": 5.0,
    "minor": 1.0,
    "neutral": 0.0,
    "no-error": 0.0,
    "no error": 0.0,
}
"""Severity -> weight of an error (Freitag et al. 2021; :func:`read_mqm`)."""


def read_mqm(collection: Collection) -> None:
    """Collect the segments of an MQM table, which has one error per record; the ratings
    are minus the sums of each rater's weights.

    Weights are those of Freitag et al. 2021: 25 for a non-translation, 5 for a major
    and 1 for a minor error, 0.1 for minor errors of punctuation. A critical error,
    which that scheme lacks, weighs 25.
    """
    sums: dict[tuple[int, str, str], dict[str, float]] = {}
    for record, item in collection.records_of_items():
        roles = (("caption", "target"), ("system", "system"), ("score", "severity"))
        names = [str(collection.name(role, (usual,), record)) for role, usual in roles]
        text, system, severity, category, rater = (
            str(lookup(record.fields, name) or "")
            for name in (*names, "category", "rater")
        )

        level = severity.lower()
        kind_of = category.lower()
        if level not in _WEIGHTS:
            raise InputError(
                f"'{names[2]}' is '{severity}'; expected one of {', '.join(_WEIGHTS)}",
                record.where,
            )
        weight = _WEIGHTS[level]
        if level == "major" and kind_of.startswith("non-translation"):
            weight = 25.0
        elif level == "minor" and kind_of == "fluency/punctuation":
            weight = 0.1

        # The text of a segment has the marks of its error.
        raters = sums.setdefault((item, system, re.sub("</?v>", "", text)), {})
        raters[rater] = raters.get(rater, 0.0) - weight

    for (item, system, text), raters in sums.items():
        collection.add(JudgedCaption(item, (text,), system, tuple(raters.values())))
