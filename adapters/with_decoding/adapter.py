"""The ``with-decoding`` adapter: a model as it is, some of its decoding settings fixed, the others taken from the run's grid.

A run has one grid of decodings for all its models. Search techniques stand side by side in it (Chan et al. 2022, Figure 6) as
models of their own: one never looks at the temperature, another filters what a third does not.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.contracts import (
    Adapter,
    Candidates,
    Decoding,
    Example,
    Failure,
    Generation,
    Prepares,
    TaskView,
    TokenScores,
)
from harness.errors import HarnessError, did_you_mean
from harness.registry import resolve
from harness.spec.models import DecodingSpec


class WithDecoding:
    """``model`` decoded with ``decoding`` on top of the run's.

    model: an adapter by name, ``{name: {parameters}}``, or an instance.
    decoding: fields of a spec's ``decoding`` other than ``candidates``, one value each; ``options`` are added to the run's.
    """

    def __init__(self, *, model: str | Mapping[str, Any] | Adapter, decoding: Mapping[str, Any]) -> None:
        self.fixed = _checked(decoding)
        self.model: Any = resolve("adapters", model)

    def fingerprint(self) -> str:
        return f"with-decoding|{json.dumps(self.fixed, sort_keys=True)}|{self.model.fingerprint()}"

    def effective(self, decoding: Decoding) -> Decoding:
        """What the model is asked for."""
        options = {**decoding.options, **self.fixed.get("options", {})}
        return replace(decoding, **{**self.fixed, "options": options})

    def prepare(self, task: TaskView) -> None:
        """The model's own check, where it has one."""
        if not isinstance(self.model, Prepares):
            return
        self.model.prepare(replace(task, decoding=self.effective(task.decoding)))

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterable[Candidates | Generation | Failure]:
        """What the model gives; with the same seeds, so that techniques differ in nothing else."""
        return self.model.generate(examples, self.effective(decoding), seeds)

    def score_references(self, examples: Sequence[Example]) -> Iterable[list[TokenScores]]:
        """The model's own; no decoding touches them. Raises :class:`HarnessError` for a model that scores none."""
        if not hasattr(self.model, "score_references"):
            raise HarnessError(f"with-decoding: {type(self.model).__name__} scores no references")
        return self.model.score_references(examples)


def _checked(decoding: Mapping[str, Any]) -> dict[str, Any]:
    known = [name for name in DecodingSpec.model_fields if name != "candidates"]
    if not isinstance(decoding, Mapping) or not decoding:
        raise HarnessError(f"with-decoding: decoding is {decoding!r}; expected some of {', '.join(known)}")
    for name, value in decoding.items():
        if name not in known:
            raise HarnessError(
                f"with-decoding: decoding has no '{name}' here{did_you_mean(str(name), known)}; expected some of {', '.join(known)}"
            )
        if isinstance(value, list):
            raise HarnessError(f"with-decoding: {name} is a list; an axis belongs to the run's decoding")
    try:
        made = DecodingSpec.model_validate(dict(decoding))
    except ValueError as error:
        raise HarnessError(f"with-decoding: {str(error).splitlines()[2].strip()}") from error
    return {name: getattr(made, name) for name in decoding}
