"""The ``with-decoding`` adapter: a model with some decoding settings fixed.

A run has one grid of decodings for all its models. With this adapter several search
techniques (Chan et al. 2022, Figure 6) are models of one run, although one ignores
the temperature and another needs filters that a third does not have.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from harness.contracts import Decoding
from harness.contracts.models import Adapter, GeneratesUnordered
from harness.errors import HarnessError, did_you_mean
from harness.registry import resolve
from harness_models.wrappers.wrapper import Wrapper

Count = Annotated[int, Field(ge=1)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
SETTINGS: dict[str, Any] = {
    "strategy": str,
    "temperature": Annotated[Finite, Field(gt=0)],
    "top_p": Annotated[float, Field(gt=0, le=1)],
    "top_k": Count,
    "beams": Count,
    "length_penalty": Finite,
    "max_length": Count,
    "options": dict[str, Any],
}
"""Types and ranges of the fields of :class:`~harness.contracts.Decoding` that can be
fixed: all except ``candidates``.

A field whose default is None can also be None.
"""


class WithDecoding(Wrapper):
    """``model`` with the settings ``decoding`` in place of those of the run.

    Parameters
    ----------
    model
        An adapter: its name, ``{name: {parameters}}``, or an instance.
    decoding
        Fields of the ``decoding`` of a spec except ``candidates``, one value each.
        ``options`` are merged with those of the run.

    Raises
    ------
    HarnessError
        For an empty mapping, an unknown field, a list, and a value out of range.

    References
    ----------
    Chan et al. (2022), Distribution Aware Metrics for Conditional Natural Language
    Generation, Figure 6.
    """

    kind = "with-decoding"

    def __init__(
        self, *, model: str | Mapping[str, Any] | Adapter, decoding: Mapping[str, Any]
    ) -> None:
        self.fixed = check_settings(decoding)
        self.model: Any = resolve("adapters", model)
        if isinstance(self.model, GeneratesUnordered):
            self.generate_unordered = self._pass_on

    def fingerprint(self) -> str:
        """Return the fixed settings and the fingerprint of the model."""
        settings = json.dumps(self.fixed, sort_keys=True)
        return f"with-decoding|{settings}|{self.model.fingerprint()}"

    def inner_decoding(self, decoding: Decoding) -> Decoding:
        """Return the decoding of the run with the fixed settings applied."""
        options = {**decoding.options, **self.fixed.get("options", {})}
        return replace(decoding, **{**self.fixed, "options": options})


def check_settings(decoding: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings with values converted to their types; raise
    :class:`HarnessError` for the first that does not fit.
    """
    expected = f"expected some of {', '.join(SETTINGS)}"
    if not isinstance(decoding, Mapping) or not decoding:
        raise HarnessError(f"with-decoding: decoding is {decoding!r}; {expected}")

    for name, value in decoding.items():
        if name not in SETTINGS:
            hint = did_you_mean(str(name), SETTINGS)
            raise HarnessError(
                f"with-decoding: decoding has no '{name}' here{hint}; {expected}"
            )
        if isinstance(value, list):
            raise HarnessError(
                f"with-decoding: {name} is a list; an axis belongs to the decoding "
                "of the run"
            )

    return {name: convert_setting(name, value) for name, value in decoding.items()}


def convert_setting(name: str, value: Any) -> Any:
    """Return a value converted to the type of the setting; raise :class:`HarnessError`
    with the value and its range.
    """
    if value is None and getattr(Decoding(), name) is None:
        return None
    try:
        return TypeAdapter(SETTINGS[name]).validate_python(value)
    except ValidationError as error:
        message = (
            error.errors()[0]["msg"]
            .replace("Input should be", "expected", 1)
            .replace(" a valid ", " a ")
        )
        hint = ""
        if name == "temperature" and value == 0:
            hint = " (use strategy: greedy for the limit of 0)"
        raise HarnessError(
            f"with-decoding: {name} is {value!r}; {message}{hint}",
            parameter=name,
            value=value,
        ) from error
