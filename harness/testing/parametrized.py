"""Pytest tests generated from checks: one test for each component and check."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from harness.contracts import Parameters
from harness.errors import HarnessError, UnknownName, did_you_mean
from harness.registry import split_spec
from harness.registry.component_kinds import SINGULAR
from harness.testing.results import Instance, Violation
from harness.testing.targets import ALL_CHECKS, checks_of, kind_of, subject_of


@dataclass
class _Case:
    """A component whose subject is created when its first test runs, so that collecting
    tests constructs nothing.
    """

    kind: str
    component: Instance
    settings: Parameters

    @cached_property
    def subject(self) -> Instance:
        """Subject of the checks; raises :class:`HarnessError` when the component cannot
        be constructed.
        """
        return subject_of(self.kind, self.component, **self.settings)

    def run(self, name: str) -> None:
        """Run one check: skip the test when it is not applicable, raise
        :class:`Violation` when it fails.
        """
        import pytest

        outcome = checks_of(self.kind).run_one(name, self.subject)
        if outcome.status == "not applicable":
            pytest.skip(outcome.reason)
        if outcome.failed:
            raise Violation(f"{name}: {outcome.reason}")


def parametrize_with_checks(
    components: Sequence[Any],
    *,
    kind: str | None = None,
    expected_failures: Parameters | None = None,
    **settings: Any,
) -> Callable[[Any], Any]:
    """Return a decorator that parametrizes a test function with ``check``: one test for
    each component and check.

    Parameters
    ----------
    components : sequence
        Instances, classes, names of the registry, or ``{name: {params}}``.
    kind : str, optional
        Plural kind of the components. Default: ``metrics`` for names, else the kind
        whose methods a component has.
    expected_failures : mapping, optional
        Check id -> reason, or id of a component -> ``{check id: reason}``. Such a test
        must fail.
    **settings
        ``sets`` for metrics and distances, ``examples`` and ``decoding`` for adapters.

    Raises
    ------
    UnknownName
        When a key of ``expected_failures`` is neither a check nor a component.
    HarnessError
        When the kind of a component is not clear.
    """
    import pytest

    labels: list[str] = []
    cases = []
    for component in components:
        component_kind = kind or (
            "metrics" if isinstance(component, (str, Mapping)) else kind_of(component)
        )
        if component_kind is None:
            raise HarnessError(
                f"{component!r:.60}: its kind is not clear from its methods; give kind="
            )

        case = _Case(component_kind, component, settings)
        label = _label(component_kind, component)
        label = label if label not in labels else f"{label}-{len(labels)}"
        labels.append(label)

        names = checks_of(component_kind).names
        reasons = _reasons(label, expected_failures or {}, names)
        for name in names:
            marks = []
            if name in reasons:
                # strict: a failure that is expected and does not come is an error
                marks.append(
                    pytest.mark.xfail(
                        reason=reasons[name], strict=True, raises=Violation
                    )
                )
            cases.append(
                pytest.param(partial(case.run, name), id=f"{label}-{name}", marks=marks)
            )

    _ensure_keys_exist(expected_failures or {}, labels)
    return pytest.mark.parametrize("check", cases)


def _ensure_keys_exist(expected_failures: Parameters, labels: Sequence[str]) -> None:
    options = [
        *dict.fromkeys(name for checks in ALL_CHECKS.values() for name in checks.names),
        *labels,
    ]
    for key in expected_failures:
        if key not in options:
            raise UnknownName(
                "expected_failures: no check or component "
                f"'{key}'{did_you_mean(key, options)}"
            )


def _label(kind: str, component: Instance) -> str:
    if isinstance(component, Mapping):
        name, params = split_spec(component, SINGULAR[kind])
        return name + "".join(f",{key}={value}" for key, value in params.items())
    if isinstance(component, str):
        return component

    spec = getattr(component, "spec", None)
    name = getattr(spec, "name", None) or getattr(component, "name", None)
    if isinstance(name, str):
        return name
    return getattr(component, "__name__", type(component).__name__)


def _reasons(label: str, expected: Parameters, names: Sequence[str]) -> dict[str, str]:
    shared = {
        key: reason
        for key, reason in expected.items()
        if key in names and isinstance(reason, str)
    }
    specific = expected.get(label, {})
    return {**shared, **(specific if isinstance(specific, Mapping) else {})}
