"""Forms of captions of image regions: the annotations of Visual Genome and the results
of densecap.

Layouts: https://homes.cs.washington.edu/~ranjay/visualgenome/api.html
(region_descriptions.json), https://github.com/jcjohnson/densecap (results.json). Both
have the left and upper edge, width and height of a box in pixels; here a box is its
left, top, right and bottom pixel, all of them inside: right is left + width - 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.contracts import Parameters, Values
from harness.errors import InputError
from harness.files.event_sets import REGION_BOXES
from harness.files.forms.form_kind import FormExample
from harness.files.forms.record_forms import (
    Conversion,
    has,
    items,
    mapping,
    record_kind,
)
from harness.files.records import Record, kind

_EDGES = ("x", "y", "width", "height")


def _pixels(values: list[Any], where: str) -> list[float]:
    """Return left, top, right and bottom of a box of left, top, width and height."""
    if len(values) != 4 or any(
        isinstance(value, bool) or not isinstance(value, (int, float))
        for value in values
    ):
        raise InputError(
            f"the box is {values!r:.60}; expected left, top, width and height",
            where,
        )
    left, top, width, height = values
    if min(width, height) <= 0:
        raise InputError(
            f"the box has width {width:g} and height {height:g}; expected both above 0",
            where,
        )
    return [left, top, left + width - 1, top + height - 1]


def _has_regions(fields: Parameters) -> bool:
    """Return True for an image of Visual Genome."""
    regions = items(fields.get("regions"))
    return bool(regions) and all(
        has(mapping(region), "phrase", *_EDGES) for region in regions[:3]
    )


def _of_visual_genome(row: Record, conversion: Conversion) -> Values:
    regions: list[Mapping[str, Any]] = [
        mapping(region) for region in items(row.fields["regions"])
    ]
    boxes = [
        _pixels([region.get(name) for name in _EDGES], f"{row.where}: region {number}")
        for number, region in enumerate(regions, 1)
    ]
    # an image has its id, or only its regions do
    identity = row.fields.get("image_id", row.fields.get("id"))
    if identity is None and regions:
        identity = regions[0].get("image_id")
    return {
        "image_id": identity,
        **conversion.captions([region.get("phrase") for region in regions]),
        REGION_BOXES: boxes,
    }


def _is_densecap(fields: Parameters) -> bool:
    """Return True for the regions of an image that densecap found."""
    return has(fields, "img_name", "boxes", "captions", "scores")


def _of_densecap(row: Record, conversion: Conversion) -> Values:
    boxes = row.fields["boxes"]
    if not isinstance(boxes, list):
        raise InputError(f"'boxes' is {kind(boxes)}; expected a list", row.where)
    return {
        "image": row.fields["img_name"],
        **conversion.captions(row.fields["captions"]),
        REGION_BOXES: [
            _pixels(items(box), f"{row.where}: region {number}")
            for number, box in enumerate(boxes, 1)
        ],
        "scores": row.fields["scores"],
    }


VISUAL_GENOME = record_kind(
    "visual-genome",
    "Visual Genome, descriptions of regions: `phrase` with `x, y, width, height`",
    _has_regions,
    _of_visual_genome,
    [
        FormExample.of_json(
            [
                {
                    "id": key,
                    "regions": [
                        {"x": 0, "y": 0, "width": 9, "height": 5, "phrase": text}
                    ],
                }
                for key, text in ((42, "a dog"), (73, "a cat"))
            ],
            "`id`",
        )
    ],
    reading="the phrases of an image, their boxes in `region_boxes` (left, top, right, "
    "bottom pixel)",
)
DENSECAP = record_kind(
    "densecap",
    "results of densecap: `boxes` (left, top, width, height), `captions`, `scores`",
    _is_densecap,
    _of_densecap,
    [
        FormExample.of_json(
            {
                "results": [
                    {
                        "img_name": f"{key}.jpg",
                        "boxes": [[0, 0, 9, 5]],
                        "captions": [text],
                        "scores": [1.5],
                    }
                    for key, text in ((42, "a dog"), (73, "a cat"))
                ]
            },
            "`img_name`",
        )
    ],
    reading="`captions`, their boxes in `region_boxes` (left, top, right, bottom "
    "pixel), `scores`",
)
