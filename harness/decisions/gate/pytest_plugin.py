"""The fixture ``caption_gate`` of pytest; the entry point ``pytest11`` loads it, and
nothing heavy is imported until it is called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from harness.decisions.gate.result import GateResult


@pytest.fixture
def caption_gate() -> Callable[..., GateResult]:
    """Return ``caption_gate(new, baseline, margins, slices=None, undecided="fail")``,
    which fails the test where the gate does not pass.

    ``new`` and ``baseline`` are run directories or ``RUN::MODEL``, ``margins`` maps the
    name of a metric to its largest worsening, a number or a share of the baseline such
    as ``"1%"``. An undecided gate passes where ``undecided`` is ``"pass"``, and only
    there; the result is returned.

        def test_captions_did_not_get_worse(caption_gate):
            caption_gate("runs/new", "runs/baseline", {"CIDEr-D": 0.01, "METEOR": "1%"})
    """

    def check(
        new: str,
        baseline: str,
        margins: Mapping[str, float | str],
        slices: str | None = None,
        undecided: str = "fail",
    ) -> GateResult:
        from harness.decisions.gate.gate import gate_margins as gate
        from harness.decisions.gate.margin import Margin
        from harness.errors import HarnessError

        if undecided not in ("fail", "pass"):
            raise HarnessError(
                f"undecided is {undecided!r}; expected 'fail' or 'pass'",
                parameter="undecided",
                value=undecided,
            )
        parsed = {name: Margin.parse(str(margin)) for name, margin in margins.items()}
        result = gate(new, baseline, parsed, slices=slices)
        if result.verdict == "failed" or (
            result.verdict == "undecided" and undecided != "pass"
        ):
            pytest.fail(f"caption_gate {result.sentence}", pytrace=False)
        return result

    return check
