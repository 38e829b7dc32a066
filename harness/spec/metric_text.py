"""Metrics as texts of the command line: ``NAME:PARAMETER=VALUE,...``."""

from __future__ import annotations

from harness.contracts import Values
from harness.errors import HarnessError, InputError
from harness.files.yaml_source import parse_value


def parse_metric(text: str) -> dict[str, Values]:
    """Return ``trm:distance=bert,pooling=per-direction`` as ``{"trm": {...}}``.

    Values are YAML; a comma inside brackets belongs to the value. Raises
    :class:`HarnessError` for any other form.

    >>> parse_metric("trm:distance={cider: {df: x, n: 4}},pooling=pooled")
    {'trm': {'distance': {'cider': {'df': 'x', 'n': 4}}, 'pooling': 'pooled'}}
    """
    name, _, parameters_text = text.partition(":")
    params: Values = {}
    for segment in filter(None, split_outside_brackets(parameters_text)):
        key, equals, value = segment.partition("=")
        if not equals or not key.strip():
            raise HarnessError(
                f"metric '{text}': expected NAME or NAME:PARAMETER=VALUE,...; "
                f"found '{segment}'",
                value=text,
            )
        try:
            params[key.strip()] = parse_value(value)
        except InputError:
            raise HarnessError(
                f"metric '{text}': the value of '{key.strip()}' is not readable: "
                f"'{value}'",
                parameter=key.strip(),
            ) from None
    return {name.strip(): params}


def split_metrics(text: str) -> list[str]:
    """Return the metrics of a comma-separated list; a part ``PARAMETER=VALUE`` belongs
    to the metric before it.

    Raises :class:`HarnessError` for a list without names, and for parameters of a
    metric that does not end with ``:`` and its first parameter.

    >>> split_metrics("bleu,trm:distance=cider,pooling=pooled,meteor")
    ['bleu', 'trm:distance=cider,pooling=pooled', 'meteor']
    """
    metrics: list[str] = []
    for segment in filter(None, map(str.strip, split_outside_brackets(text))):
        head, equals, _ = segment.partition("=")
        if not equals or ":" in head:
            metrics.append(segment)
        elif metrics and ":" in metrics[-1]:
            metrics[-1] += f",{segment}"
        else:
            before = metrics[-1] if metrics else "NAME"
            raise HarnessError(
                f"metric '{text}': '{segment}' belongs to no metric; "
                f"write {before}:{segment}",
                value=text,
            )
    if not metrics:
        raise HarnessError(
            f"metric '{text}': expected NAME or NAME:PARAMETER=VALUE,...", value=text
        )
    return metrics


def split_outside_brackets(text: str) -> list[str]:
    """Return the text split at the commas that are outside of brackets.

    >>> split_outside_brackets("a=[1,2],b(c, d)")
    ['a=[1,2]', 'b(c, d)']
    """
    segments = [""]
    depth = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            segments.append("")
        else:
            segments[-1] += character
    return segments
