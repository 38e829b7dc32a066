"""All numbers of every metric of captions, in many forms, on small fixed data:
nothing moves unseen.

Other tests compare with formulas, other implementations and published values; these
only notice that a number, note or signature changed. ``HARNESS_PIN=write`` writes the
files anew (:mod:`tests.support.pinned`).
"""

from __future__ import annotations

from typing import Any

import pytest

from harness.registry import current
from tests.support import metric_inputs as inputs
from tests.support import metric_reports as reports
from tests.support.metric_forms import forms, name_of
from tests.support.pinned import (
    DOUBLE_PRECISION,
    FOLDER,
    SINGLE_PRECISION,
    as_text,
    assert_pinned,
)

NOT_PINNED = {
    "spice": "needs Stanford CoreNLP",
    "dense": "scores events; tests/plugins/dense has its values",
    "trm-events": "scores events; tests/plugins/events has its values",
    "mmd-events": "scores events; tests/plugins/events has its values",
}
"""Metrics without a pinned file, with the reason."""
NAMES = [
    entry.name
    for entry in current().entries("metrics")
    if entry.target.startswith("harness_metrics.")
]
OTHER_INPUTS = {
    "choice",
    "poll",
    "perplexity",
    "pregen",
    "scores",
    "novelty",
    "bertscore",
    "wmd",
    "clipscore",
    "refclipscore",
    "pac-score",
    "ref-pac-score",
    "pac-score-plus",
    "ref-pac-score-plus",
    "vqascore",
    "clip-recall",
    "listener-accuracy",
    "fleur",
    "ref-fleur",
    "discriminativity",
    "contrastive-efficiency",
    "relevance",
    "optimal-discriminativity",
    "mentioned-features",
    "false-features",
    "redundant-mention",
    "adjective-order",
}
"""Metrics that need other inputs than captions, below."""
EMBEDDED = {"production-variability"}
"""Metrics of which a form embeds with a model of single precision."""
OF_CAPTIONS = [
    name for name in NAMES if name not in OTHER_INPUTS and name not in NOT_PINNED
]


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_CAPTIONS)
def test_metric_of_captions(name: str) -> None:
    further = {"mirrored": inputs.MIRRORED, "wide": inputs.WIDE, "short": inputs.SHORT}
    out: dict[str, Any] = {}
    for number, form in enumerate(forms(name)):
        metric = reports.create(name, form)
        more = further if number == 0 or metric.spec.level == "corpus" else {}
        if name in ("cr", "nrr", "cnd"):
            more = {**more, "hundred": inputs.HUNDRED}
        out[str(number)] = {
            "form": name_of(form),
            **reports.report_all(metric, inputs.MIXED, inputs.EVEN, more),
        }
    assert_pinned(
        f"metrics/{name}.txt",
        as_text(out),
        SINGLE_PRECISION if name in EMBEDDED else DOUBLE_PRECISION,
    )


def test_every_metric_has_a_pinned_file() -> None:
    files = {path.stem for path in (FOLDER / "metrics").glob("*.txt")}
    assert files == set(NAMES) - NOT_PINNED.keys()
