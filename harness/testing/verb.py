"""The function of the verb ``check``."""

from __future__ import annotations

import contextlib
import io
import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.contracts import Values, VerbResult, arrow_table
from harness.errors import HarnessError, counted
from harness.programs.components import ProgramComponent
from harness.registry.component_kinds import SINGULAR
from harness.registry.permissions import typed_by_user
from harness.run.coverage_tables import LOWEST
from harness.testing.calibration import DISTRIBUTIONS, Calibration, calibrate
from harness.testing.program_conduct import PROGRAM_CHECKS
from harness.testing.results import NotApplicable, Outcome
from harness.testing.targets import Target, builtins, checks_of, subject_of, targets

_log = logging.getLogger(__name__)
SIGNS = {
    "pass": "ok",
    "fail": "FAIL",
    "not applicable": "-",
    "expected failure": "expected",
}


@dataclass(frozen=True)
class CheckedComponent:
    """Outcomes of the checks of one component."""

    target: Target
    outcomes: Sequence[Outcome]

    def lines(self, *, only_failed: bool) -> Iterator[str]:
        """Yield the outcomes, or those that failed, and their numbers."""
        yield f"{self.target.label} ({self.target.kind})"
        rows = [item for item in self.outcomes if item.failed or not only_failed]
        width = max((len(outcome.check) for outcome in rows), default=0)
        for outcome in rows:
            sign = SIGNS[outcome.status]
            line = f"  {sign:<8}  {outcome.check:<{width}}  {outcome.reason}"
            yield line.rstrip()
        words = {"pass": "passed", "fail": "failed"}
        counts = Counter(
            words.get(outcome.status, outcome.status) for outcome in self.outcomes
        )
        summary = ", ".join(f"{number} {status}" for status, number in counts.items())
        yield f"  {summary}\n"


@dataclass(frozen=True)
class CheckedComponents(VerbResult):
    """Outcomes of the checks of some components."""

    ROWS = "checks"

    components: Sequence[CheckedComponent]
    only_failed: bool = False
    """Print the checks that failed alone."""

    @property
    def passed(self) -> bool:
        """True where no check failed."""
        return not any(
            outcome.failed for item in self.components for outcome in item.outcomes
        )

    @property
    def checks(self) -> list[Values]:
        """Kind, target, check, status and reason of each outcome."""
        return [
            {
                "kind": item.target.kind,
                "target": item.target.label,
                "check": outcome.check,
                "status": outcome.status,
                "reason": outcome.reason,
            }
            for item in self.components
            for outcome in item.outcomes
        ]

    def to_dict(self) -> Values:
        """Return verdict and outcomes."""
        return {"passed": self.passed, "checks": self.checks}

    def blocks(self) -> Iterator[str]:
        """Yield the lines of each component."""
        for item in self.components:
            yield from item.lines(only_failed=self.only_failed)


@dataclass(frozen=True)
class CalibrationResult(VerbResult):
    """Measured coverage of a metric's interval and size of its paired test."""

    table: Calibration

    @property
    def metrics(self) -> Values:
        """Name of the metric -> its table."""
        return {self.table.name: self.table.to_dict()}

    def to_dict(self) -> Values:
        """Return the table under the name of the metric."""
        return {"metrics": self.metrics}

    def to_arrow(self) -> Any:
        """Return a row for each number of examples and distribution."""
        rows: list[Values] = []
        for n, cell in self.table.sizes.items():
            for name, coverage, size in zip(DISTRIBUTIONS, cell.coverage, cell.size):
                numbers = {"coverage": coverage, "size": size}
                rows.append({"n": n, "distribution": name, **numbers})
        return arrow_table(rows)

    def blocks(self) -> Iterator[str]:
        """Yield the lines of the table."""
        names = "  ".join(f"{name:>9}" for name in DISTRIBUTIONS)
        yield (
            f"{self.table.name}: coverage of the 95 % interval, "
            f"size of the paired test at .05; {self.table.repetitions:,} runs each"
        )
        yield f"{'n':>5}  {names}    {names}"
        for n, cell in self.table.sizes.items():
            coverage = "  ".join(f"{_share(share):>9}" for share in cell.coverage)
            size = "  ".join(f"{_share(share):>9}" for share in cell.size)
            is_low = any(
                share is not None and share < LOWEST for share in cell.coverage
            )
            note = "    below .90: no interval" if is_low else ""
            yield f"{n:>5}  {coverage}    {size}{note}"


def check(
    target: str | None = None,
    *,
    kind: str | None = None,
    params: Mapping[str, Any] | None = None,
    skip: Sequence[str] = (),
    all_builtins: bool = False,
    calibrate: bool = False,
) -> CheckedComponents | CalibrationResult:
    """Check a component against the contract of its kind.

    Parameters
    ----------
    target : str
        ``package.module:Class``, a .yaml or .py file, the folder of a plugin, or a name
        of :func:`harness.list`.
    kind : str, optional
        ``metrics``, ``distances``, ``embeddings``, ``adapters``, ``readers`` or
        ``tasks``.
    params : mapping, optional
        Constructor parameters.
    skip : sequence of str
        Checks to leave out.
    all_builtins : bool
        Check every built-in metric, distance and embedding that can be created here, in
        place of a target.
    calibrate : bool
        Simulate instead the coverage of a metric's interval and the size of its paired
        test.

    Raises
    ------
    HarnessError
        There is no such component, or it cannot be created.
    """
    if not target and not all_builtins:
        raise HarnessError("name a component to check, or give all_builtins=True")
    if calibrate:
        return _calibrate(str(target), kind or "metrics", dict(params or {}))
    if all_builtins:
        components = builtins()
    else:
        components = targets(str(target), kind, dict(params or {}))

    checked: list[CheckedComponent] = []
    for item in components:
        try:
            outcomes = _check(item, skip, len(components) > 1, all_builtins)
        except NotApplicable as error:
            if len(components) == 1:
                raise HarnessError(f"{item.label}: not checked: {error}") from error
            _log.warning("%s (%s): not checked: %s", item.label, item.kind, error)
            continue
        except HarnessError as error:
            if len(components) == 1:
                raise
            # other kinds have the name too
            _log.warning("%s (%s): not checked: %s", item.label, item.kind, error)
            continue
        checked.append(CheckedComponent(item, outcomes))
    if not checked:
        raise HarnessError(
            f"no component '{target}' can be created: choose one with kind='KIND' and "
            "set its parameters with params={'NAME': ...}"
        )
    return CheckedComponents(checked, all_builtins)


def _check(
    target: Target, skip: Sequence[str], among_others: bool, all_builtins: bool
) -> list[Outcome]:
    """Return the outcomes of the checks of one component."""
    checks = checks_of(target.kind)
    if among_others:  # of which some kinds have no such check
        skip = [name for name in skip if name in checks.names]
    # a check reports what a component prints
    with contextlib.redirect_stdout(io.StringIO()), typed_by_user():
        subject = subject_of(target.kind, target.component)
        of_program = [name for name in skip if name in PROGRAM_CHECKS.names]
        of_kind = [name for name in skip if name not in of_program]
        results = checks.run(subject, skip=of_kind)
        if isinstance(getattr(subject, "component", None), ProgramComponent):
            results += PROGRAM_CHECKS.run(subject, skip=of_program)
        outcomes = _mark_expected(subject, results)
    # needs a package or files that are not here
    if all_builtins and isinstance(subject.first_error, HarnessError):
        raise subject.first_error
    return outcomes


def _mark_expected(subject: Any, outcomes: list[Outcome]) -> list[Outcome]:
    """Return the outcomes; failures that the class of the component expects
    (``expected_check_failures``) are no failures.
    """
    component = getattr(subject, "component", None)
    reasons = getattr(component, "expected_check_failures", {})
    out: list[Outcome] = []
    for outcome in outcomes:
        if outcome.failed and outcome.check in reasons:
            reason = reasons[outcome.check]
            outcome = Outcome(outcome.check, "expected failure", reason)
        out.append(outcome)
    return out


def _calibrate(target: str, kind: str, params: Values) -> CalibrationResult:
    """Return the measured coverage and size of one metric."""
    components = targets(target, kind, params)
    if len(components) > 1 or components[0].kind != "metrics":
        raise HarnessError(
            f"calibrate=True takes one metric; '{target}' is "
            f"{counted(len(components), SINGULAR[components[0].kind])}"
        )
    with contextlib.redirect_stdout(io.StringIO()):
        subject = subject_of("metrics", components[0].component)
        return CalibrationResult(calibrate(subject.component))


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.3f}"
