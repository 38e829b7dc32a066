"""Forms of captions of the parts of a video, with their times: ActivityNet Captions and
YouCook2.

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
from harness.files.forms.record_forms import has, items, mapping
from harness.files.forms.sample import HEAD, Sample
from harness.files.records import Record, kind

TIMESTAMPS = "timestamps"
"""Column of the times of the captions of an item: pairs of seconds, in the order of the
captions.
"""


def _is_truth(value: object) -> bool:
    """Return True for a video of the ground truth: lists of sentences and times."""
    fields = mapping(value)
    lists = (fields.get("timestamps"), fields.get("sentences"))
    return all(isinstance(item, list) for item in lists)


def _is_proposals(value: object) -> bool:
    """Return True for a list of sentences with their times."""
    return any(has(mapping(item), "sentence", "timestamp") for item in items(value)[:1])


def _has_segments(value: object) -> bool:
    """Return True for a video of YouCook2: ``annotations`` with their segments."""
    annotations = items(mapping(value).get("annotations"))
    return any(has(mapping(item), "sentence", "segment") for item in annotations[:1])


def _videos(document: object) -> Parameters:
    """Return the object of videos of a document; empty for another file."""
    outer = mapping(document)
    tests = (_is_truth, _is_proposals, _has_segments)
    for videos in (
        mapping(outer.get("results")),
        mapping(outer.get("database")),
        outer,
    ):
        # A video may have no captions.
        filled = [item for item in list(videos.values())[:HEAD] if item]
        if filled and any(all(map(test, filled)) for test in tests):
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
        scores = [item.get("proposal_score") for item in proposals]
        if any(score is not None for score in scores):
            others["scores"] = scores
    elif _is_truth(value):
        others = dict(mapping(value))
        captions = others.pop("sentences")
        times = others.pop("timestamps")
    elif _has_segments(value):
        others = dict(mapping(value))
        segments: list[Mapping[str, Any]] = [
            mapping(item) for item in items(others.pop("annotations"))
        ]
        captions = [item.get("sentence") for item in segments]
        times = [item.get("segment") for item in segments]
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
    reading="the captions of a video in `captions`, their times in `timestamps`, "
    "`proposal_score` in `scores`",
    splits="split",
)
