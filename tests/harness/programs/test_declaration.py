"""What a manifest declares of a metric, and what its program says."""

from __future__ import annotations

import math

import pytest

import harness
from harness.errors import HarnessError
from harness.programs.declaration import MetricDeclaration
from harness.programs.protocol import Greeting
from harness.registry import current

DECLARED = MetricDeclaration(True, (0.0, 1.0), ("candidate", "references"))


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ({"needs": ("candidate",)}, "needs [candidate], and its manifest [candidate, "),
        (
            {"direction": None, "says_direction": True},
            "higher_is_better null, and its manifest true; write "
            "'higher_is_better: null' into the manifest",
        ),
        ({"bounds": (0.0, math.inf)}, "write 'bounds: [0, null]' into the manifest"),
    ],
)
def test_a_program_that_says_something_else_is_refused(said, text):
    with pytest.raises(HarnessError) as caught:
        DECLARED.check(Greeting("x", "1", **said), "metric 'x'")
    assert text in str(caught.value)
    assert str(caught.value).startswith("metric 'x': the program has ")


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"needs": ("references", "candidate")},
        {"direction": True, "says_direction": True},
        {"bounds": (0.0, 1.0)},
    ],
)
def test_a_program_may_say_nothing_or_the_same(said):
    DECLARED.check(Greeting("x", "1", **said), "metric 'x'")


def test_a_program_that_contradicts_its_manifest_is_refused(project):
    text = (project / "registry.yaml").read_text()
    (project / "registry.yaml").write_text(
        text.replace("higher_is_better: true", "higher_is_better: false")
    )
    current.__globals__["_load"].cache_clear()
    with pytest.raises(HarnessError, match="write 'higher_is_better: true' into"):
        harness.score(["a"], [["a"]], ["overlap"])
