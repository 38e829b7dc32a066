"""Declaration of the metric of a program in a manifest, which the program must not
contradict.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.errors import HarnessError
from harness.programs.protocol import Greeting


@dataclass(frozen=True)
class MetricDeclaration:
    """Direction, bounds and needs of a metric."""

    direction: bool | None
    bounds: tuple[float, float] | None
    needs: tuple[str, ...]

    def check(self, greeting: Greeting, label: str) -> None:
        """Raise :class:`HarnessError` where a program says something else, with what to
        write into the manifest.
        """
        says = []
        if greeting.needs is not None and {*greeting.needs} != {*self.needs}:
            says.append(("needs", greeting.needs, self.needs))
        if greeting.says_direction and greeting.direction != self.direction:
            says.append(("higher_is_better", greeting.direction, self.direction))
        if greeting.bounds not in (None, self.bounds):
            says.append(("bounds", greeting.bounds, self.bounds))
        for key, said, declared in says:
            raise HarnessError(
                f"{label}: the program has {key} {_yaml(said)}, and its manifest "
                f"{_yaml(declared)}; write '{key}: {_yaml(said)}' into the manifest"
            )


def _yaml(value: object) -> str:
    """Return a value as YAML has it."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(_yaml, value))}]"
    if value in (float("inf"), float("-inf"), None):
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
