"""The shipped sample: sixty scenes with ten different captions each,
of varied length.
"""

from __future__ import annotations

import json

import pytest

from harness_tasks.readers.coco import CocoCaptions


@pytest.fixture(scope="module")
def path(root):
    return root / "tasks" / "harness_tasks" / "sample" / "captions.json"


def test_sixty_scenes_with_ten_captions(path):
    examples = list(CocoCaptions(path=str(path)))
    assert len(examples) >= 60
    assert all(len(set(item.references)) == 10 for item in examples)
    every = [text for item in examples for text in item.references]
    assert len(set(every)) == len(every)


def test_captions_vary_in_length_within_a_scene(path):
    for item in CocoCaptions(path=str(path)):
        lengths = [len(text.split()) for text in item.references]
        assert max(lengths) >= 2 * min(lengths), item.media


def test_description_and_licence(path):
    data = json.loads(path.read_text(encoding="utf-8"))
    assert "written for this project" in data["info"]["description"]
    assert data["licenses"][0]["name"] == "Apache License 2.0"
    assert [note["id"] for note in data["annotations"]] == list(
        range(1, len(data["annotations"]) + 1)
    )
