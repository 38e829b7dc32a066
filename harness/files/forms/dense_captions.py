"""Forms of captions of the parts of a video, with their times:
ActivityNet Captions and YouCook2.

Layouts: https://github.com/ranjaykrishna/densevid_eval (results and ground truth),
http://youcook2.eecs.umich.edu (annotations).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.contracts import Parameters, Values
from harness.errors import InputError
from harness.files.forms.form import Form
from harness.files.forms.form_kind import FormExample, FormKind
from harness.files.forms.record_forms import items, mapping
from harness.files.forms.sample import HEAD, Sample
from harness.files.records import Record, kind

TIMESTAMPS = "timestamps"
"""Column of the times of the captions of an item: pairs of seconds,
in the order of the captions.
"""


def _is_truth(value: object) -> bool:
    return isinstance(mapping(value).get("timestamps"), list) and isinstance(
        mapping(value).get("sentences"), list
    )


def _is_proposals(value: object) -> bool:
    """Return True for a list of sentences with their times."""
    first = items(value)[:1]
    return (
        bool(first)
        and "sentence" in mapping(first[0])
        and "timestamp" in mapping(first[0])
    )


def _is_annotated(value: object) -> bool:
    """Return True for a video of YouCook2: ``annotations`` with their segments."""
    first = items(mapping(value).get("annotations"))[:1]
    return (
        bool(first)
        and "sentence" in mapping(first[0])
        and "segment" in mapping(first[0])
    )


def _videos(document: object) -> Parameters:
    """Return the object of videos of a document; empty for another file."""
    outer = mapping(document)
    for videos in (
        mapping(outer.get("results")),
        mapping(outer.get("database")),
        outer,
    ):
        head = list(videos.values())[:HEAD]
        filled = [item for item in head if item]
        if filled and any(
            all(map(test, filled)) for test in (_is_truth, _is_proposals, _is_annotated)
        ):
            return videos
    return {}


def _read(sample: Sample) -> Form:
    videos = _videos(sample.document)
    if not videos:
        raise InputError(
            "is no file of ActivityNet Captions or YouCook2: "
            "expected videos with 'timestamps' and 'sentences', or with lists of both",
            sample.location,
        )

    def rows() -> Iterator[Record]:
        for name, value in videos.items():
            where = f"{sample.location}: '{name}'"
            yield Record(where, {"id": name, **_video(value, where)})

    return Form("activitynet", rows(), ids=("id",))


def _video(value: object, where: str) -> Values:
    """Return captions and times of a video, in one order, and its other fields."""
    if isinstance(value, list):
        proposals: list[Mapping[str, Any]] = [mapping(item) for item in value]
        captions = [item.get("sentence") for item in proposals]
        times = [item.get("timestamp") for item in proposals]
        others: Values = {}
    elif _is_truth(value):
        fields = mapping(value)
        captions = fields["sentences"]
        times = fields["timestamps"]
        others = {
            key: item
            for key, item in fields.items()
            if key not in ("sentences", "timestamps")
        }
    elif _is_annotated(value):
        fields = mapping(value)
        parts: list[Mapping[str, Any]] = [
            mapping(item) for item in items(fields["annotations"])
        ]
        captions = [item.get("sentence") for item in parts]
        times = [item.get("segment") for item in parts]
        others = {key: item for key, item in fields.items() if key != "annotations"}
        if "subset" in others:
            others["split"] = others.pop("subset")
    else:
        raise InputError(
            f"found {kind(value)}; expected captions with their times", where
        )
    if len(captions) != len(times):
        raise InputError(
            f"{len(captions)} captions and {len(times)} times; expected one time each",
            where,
        )
    return {**others, "captions": list(captions) or None, TIMESTAMPS: list(times)}


ACTIVITYNET = FormKind(
    "activitynet",
    "ActivityNet Captions (ground truth, results) and YouCook2: "
    "the captions of a video with their times",
    lambda sample: bool(_videos(sample.document)),
    _read,
    [
        FormExample.of_json(
            {
                "42": {"duration": 9.0, "timestamps": [[0, 5]], "sentences": ["a dog"]},
                "73": {"duration": 9.0, "timestamps": [[0, 5]], "sentences": ["a cat"]},
            },
            "the keys",
        ),
        FormExample.of_json(
            {
                "version": "VERSION 1.0",
                "results": {
                    "42": [{"sentence": "a dog", "timestamp": [0, 5]}],
                    "73": [{"sentence": "a cat", "timestamp": [0, 5]}],
                },
            },
            "the keys",
            "ActivityNet Captions, results",
        ),
        FormExample.of_json(
            {
                "database": {
                    "42": {
                        "subset": "training",
                        "annotations": [
                            {"segment": [0, 5], "id": 0, "sentence": "a dog"}
                        ],
                    },
                    "73": {
                        "subset": "training",
                        "annotations": [
                            {"segment": [0, 5], "id": 0, "sentence": "a cat"}
                        ],
                    },
                }
            },
            "the keys",
            "YouCook2, annotations",
        ),
    ],
    reading="the captions of a video in `captions`, their times in `timestamps`",
    splits="split",
)
