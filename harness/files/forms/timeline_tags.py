"""Form of the annotations of ViTT: tags with their starts in milliseconds.

Layout: https://github.com/google-research-datasets/Video-Timeline-Tags-ViTT. Several
records of one id are several annotators. A tag ends where the next begins, the last at
``duration`` (seconds) where a record has it; without one it has no length.
"""

from __future__ import annotations

from harness.contracts import Parameters, Values
from harness.errors import InputError
from harness.files.forms.form_kind import FormExample
from harness.files.forms.record_forms import (
    Conversion,
    has,
    items,
    mapping,
    record_kind,
)
from harness.files.records import Record, kind

OPEN = "last tags without an end (no duration), taken as of no length"


def _is_timeline(fields: Parameters) -> bool:
    """Return True for a record of tags with times."""
    tags = items(fields.get("annotations"))
    return bool(tags) and all(has(mapping(tag), "timestamp", "tag") for tag in tags[:3])


def _convert(row: Record, conversion: Conversion) -> Values:
    tags = [mapping(tag) for tag in items(row.fields["annotations"])]
    starts: list[float] = []
    for tag in tags:
        value = tag.get("timestamp")
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise InputError(
                f"'timestamp' is {kind(value)}; expected milliseconds", row.where
            )
        starts.append(value / 1000)
    order = sorted(range(len(tags)), key=starts.__getitem__)
    times = [starts[k] for k in order]

    duration = row.fields.get("duration")
    if not isinstance(duration, (int, float)):
        duration = times[-1]
        conversion.left_out[OPEN] += 1
    ends = [*times[1:], max(float(duration), times[-1])]
    others = {name: v for name, v in row.fields.items() if name != "annotations"}
    return {
        **others,
        **conversion.captions([tags[k].get("tag") for k in order]),
        "timestamps": [list(span) for span in zip(times, ends)],
    }


VITT = record_kind(
    "vitt",
    "ViTT: tags of the parts of a video with their starts in milliseconds",
    _is_timeline,
    _convert,
    [
        FormExample.of_lines(
            [
                {"id": "42", "annotations": [{"timestamp": 260, "tag": "a dog"}]},
                {"id": "73", "annotations": [{"timestamp": 260, "tag": "a cat"}]},
            ],
            "`id`",
        )
    ],
    reading="the tags with their times in seconds in `timestamps`: each ends where "
    "the next begins",
)
