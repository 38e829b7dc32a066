"""Images below boxes, where they are at hand."""

from __future__ import annotations

import pytest

import harness
from harness.page.events import pictures
from harness.page.events.pictures import pictures_of
from harness.results import Run
from tests.support.event_runs import write_boxes


@pytest.fixture
def run(tmp_path, monkeypatch) -> Run:
    monkeypatch.chdir(tmp_path)
    return harness.evaluate(str(write_boxes(tmp_path)), output=tmp_path / "run")


def test_an_image_has_the_pixels_of_the_boxes(run):
    found = pictures_of(run, ["0", "1", "absent"])
    assert {name: picture.size for name, picture in found.items()} == {
        "0": (640, 480),
        "1": (480, 640),
    }
    assert found["0"].address.startswith("data:image/webp;base64,")
    jpeg = pictures_of(run, ["0"], "JPEG")["0"]
    assert jpeg.address.startswith("data:image/jpeg;base64,")


def test_images_stay_within_the_budget(run, monkeypatch):
    monkeypatch.setattr(pictures, "BUDGET", 10)
    assert pictures_of(run, ["0", "1"]) == {}


def test_missing_images_are_none(run, tmp_path):
    for file in tmp_path.glob("*.jpg"):
        file.unlink()
    assert pictures_of(run, ["0", "1"]) == {}
