"""One pytest test of each check."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from harness.errors import HarnessError, UnknownName, did_you_mean
from harness.registry import split_spec
from harness.registry.component_kinds import SINGULAR
from harness.testing.results import Violation
from harness.testing.targets import checks_of, kind_of, subject_of


@dataclass
class _Later:
    """A subject made when its first check runs: collecting tests imports and constructs nothing that is only named."""

    kind: str
    component: Any
    settings: Mapping[str, Any]
    _made: list[Any] = field(default_factory=list)

    def subject(self) -> Any:
        if not self._made:
            self._made.append(subject_of(self.kind, self.component, **self.settings))
        return self._made[0]

    def check(self, name: str) -> None:
        import pytest

        outcome = checks_of(self.kind).run_one(name, self.subject())
        if outcome.status == "not applicable":
            pytest.skip(outcome.reason)
        if outcome.failed:
            raise Violation(f"{name}: {outcome.reason}")


def parametrize_with_checks(
    components: Sequence[Any],
    *,
    kind: str | None = None,
    expected_failures: Mapping[str, Any] | None = None,
    **settings: Any,
) -> Callable[[Any], Any]:
    """A decorator: the test function gets ``check``, to be called; one test for each component and check.

    ``components``: instances, classes, names or ``{name: {params}}`` of the registry (names need ``kind``, which else is told by
    the methods). ``expected_failures``: check -> reason, or id of a component -> {check: reason}; such a test must fail.
    ``settings``: ``sets`` for metrics and distances, ``examples`` and ``decoding`` for adapters.
    """
    import pytest

    known: dict[str, Any] = {}
    made = []
    for component in components:
        of = kind or ("metrics" if isinstance(component, (str, Mapping)) else kind_of(component))
        if of is None:
            raise HarnessError(f"{component!r:.60}: tell what it is with kind=")
        later = _Later(of, component, settings)
        label = _label(of, component)
        label = label if label not in known else f"{label}-{len(known)}"
        known[label] = None
        reasons = _reasons(label, expected_failures or {}, checks_of(of).names)
        for name in checks_of(of).names:
            marks = [pytest.mark.xfail(reason=reasons[name], strict=True, raises=Violation)] if name in reasons else []
            made.append(pytest.param(partial(later.check, name), id=f"{label}-{name}", marks=marks))
    all_checks = {name for of in (kind, "metrics", "distances", "embeddings", "adapters", "readers", "tasks") if of
                  for name in checks_of(of).names}  # fmt: skip
    for key in expected_failures or {}:
        if key not in all_checks and key not in known:
            raise UnknownName(
                f"expected_failures: no check or component '{key}'{did_you_mean(key, [*all_checks, *known])}"
            )
    return pytest.mark.parametrize("check", made)


def _label(kind: str, component: Any) -> str:
    if isinstance(component, Mapping):
        name, params = split_spec(component, SINGULAR[kind])
        return name + "".join(f",{key}={value}" for key, value in params.items())
    if isinstance(component, str):
        return component
    spec = getattr(component, "spec", None)
    name = getattr(spec, "name", None) or getattr(component, "name", None)
    return name if isinstance(name, str) else getattr(component, "__name__", type(component).__name__)


def _reasons(label: str, expected: Mapping[str, Any], names: Sequence[str]) -> dict[str, str]:
    shared = {key: reason for key, reason in expected.items() if key in names and isinstance(reason, str)}
    own = expected.get(label, {})
    return {**shared, **(own if isinstance(own, Mapping) else {})}
