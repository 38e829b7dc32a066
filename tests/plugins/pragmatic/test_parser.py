"""Readings of free captions."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from harness_metrics.pragmatic.lexicon import OTHER
from harness_metrics.pragmatic.parser import read
from harness_tasks.a3ds import grammar, scene


def parse(text: str) -> dict[str, object]:
    """Return the reading of one caption: feature -> phrases that its words fit,
    ``bare``, ``contradictions``, ``unread``.
    """
    readings = read([text])
    out: dict[str, object] = {
        name: _phrases(k, int(readings.masks[0, k]))
        for k, name in enumerate(scene.FACTORS)
        if readings.masks[0, k]
    }
    out["bare"] = _phrases(0, int(readings.bare[0]))
    out["contradictions"] = [
        name
        for k, name in enumerate(scene.FACTORS)
        if readings.contradictions[0] >> k & 1
    ]
    out["unread"] = list(readings.unread.get(0, ()))
    return out


def _phrases(factor: int, values: int) -> list[str]:
    """Return the distinct phrases of a mask of values."""
    phrases = [
        scene.PHRASES[factor][index]
        for index in range(scene.SIZES[factor])
        if values >> index & 1
    ]
    return list(dict.fromkeys(phrases)) or (["another"] if values & OTHER else [])


@pytest.mark.parametrize(
    "text, expected",
    [
        (
            "A red sphere, middle sized",
            {"object_hue": ["red"], "shape": ["ball"], "scale": ["middle-sized"]},
        ),
        (
            "a medium sized medium blue cube",
            {
                "scale": ["medium-sized"],
                "object_hue": ["medium blue"],
                "shape": ["block"],
            },
        ),
        (
            "a medium cyan cylinder",
            {"scale": ["medium-sized"], "object_hue": ["cyan"], "shape": ["cylinder"]},
        ),
        (
            "the wall is red and the floor is green",
            {"wall_hue": ["red"], "floor_hue": ["green"]},
        ),
        (
            "the small ball on red floor in front of a purple wall is orange",
            {
                "scale": ["small"],
                "shape": ["ball"],
                "floor_hue": ["red"],
                "wall_hue": ["purple"],
                "object_hue": ["orange"],
            },
        ),
        (
            "a tiny pill on pink floor in front of a light green",
            {
                "scale": ["tiny"],
                "shape": ["pill"],
                "floor_hue": ["pink"],
                "wall_hue": ["light green"],
            },
        ),
        (
            "a violet capsule at the centre",
            {
                "object_hue": ["purple"],
                "shape": ["pill"],
                "orientation": ["in the middle"],
            },
        ),
        (
            "a ball nearly in the middle",
            {"shape": ["ball"], "orientation": ["nearly in the middle"]},
        ),
        (
            "close to the right side, a ball",
            {"shape": ["ball"], "orientation": ["close to the right side"]},
        ),
        ("a dark green ball", {"object_hue": ["another"], "shape": ["ball"]}),
        ("blue wall", {"wall_hue": ["medium blue", "dark blue"]}),
    ],
)
def test_free_captions(text, expected):
    reading = parse(text)
    assert {
        k: v
        for k, v in reading.items()
        if k not in ("bare", "contradictions", "unread")
    } == expected
    assert (reading["bare"], reading["contradictions"], reading["unread"]) == (
        [],
        [],
        [],
    )


def test_bare_colours_contradictions_and_unknown_words():
    assert parse("red")["bare"] == ["red"]
    assert parse("a red ball is blue")["contradictions"] == ["object_hue"]
    assert parse("a tiny ball that is giant")["contradictions"] == ["scale"]
    assert parse("a zebra on a unk floor")["unread"] == ["zebra", "unk"]
    assert parse("") == {"bare": [], "contradictions": [], "unread": []}


def test_captions_of_the_grammar():
    ids = np.random.default_rng(0).integers(0, scene.N_SCENES, 60)
    kinds: tuple[grammar.Kind, ...] = ("exhaustive", "short")
    for kind in kinds:
        texts = [
            text for captions in grammar.caption_sets(ids, kind) for text in captions
        ]
        values = np.repeat(scene.indices(ids), len(texts) // len(ids), axis=0)
        readings = read(texts)
        mentioned = readings.masks > 0
        true = (readings.masks >> values.astype(np.uint16) & 1).astype(bool)
        assert (mentioned == true).all()
        assert not readings.unread
        assert not readings.contradictions.any()
        assert mentioned.any(1).all() and (kind == "short" or mentioned.all())


@pytest.mark.large_sets("a3ds/speaker_predictions_unpaired.jsonl.gz")
def test_published_speaker_output_has_no_unknown_word_but_unk(shared):
    with gzip.open(
        shared / "data/a3ds/speaker_predictions_unpaired.jsonl.gz", "rt"
    ) as file:
        texts = [json.loads(line)["prediction"] for line in file]
    readings = read(texts)
    assert {word for words in readings.unread.values() for word in words} == {"unk"}
    assert not readings.contradictions.any()
    assert (readings.masks[:, 4] > 0).all()
