"""Logs of inspect (``.json``, or ``.eval``, a zip archive), whose samples have
``scores``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.analysis.logged_samples import LoggedSample, ScoreForm, mapping_of
from harness.errors import InputError
from harness.files.records import kind
from harness.files.yaml_source import YamlValue


def read_inspect(task: object, items: Iterable[tuple[str, YamlValue]]) -> ScoreForm:
    """Return the samples of a log of inspect;
    a scorer with several values has metrics ``SCORER/VALUE``.
    """
    fields = mapping_of(task)
    advice = (
        "two runs in one log? keep one of them, or number the repetitions in 'epoch'"
    )
    return ScoreForm(
        f"inspect {fields.get('task', '')}".strip(),
        _read_samples(items, str(fields.get("model", ""))),
        advice,
    )


def _read_samples(
    items: Iterable[tuple[str, YamlValue]], model: str
) -> Iterator[LoggedSample]:
    """Yield the samples of a log of inspect; ``items``: place and content of each."""
    for where, item in items:
        fields = mapping_of(item)
        if not fields:
            raise InputError(f"found {kind(item)}; expected a sample of inspect", where)
        values: dict[str, YamlValue] = {}
        for scorer, score in mapping_of(fields.get("scores")).items():
            value = mapping_of(score).get("value", score)
            numbers = mapping_of(value)
            if numbers:
                for name, number in numbers.items():
                    values[f"{scorer}/{name}"] = number
            else:
                values[scorer] = value

        name = str(fields.get("id", ""))
        epoch = str(fields.get("epoch") or "")
        title = f"sample {name}" + (f" in epoch {epoch}" if epoch else "")
        yield LoggedSample(where, model, name, title, values, epoch)
