"""Thumbnails: which images are embedded, linked, missing, or no images."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import harness
from harness.reporting import page
from harness.reporting.page.images import thumbnails
from harness.reporting.page.sources import examples_of
from harness.run.finished import Run

Image = pytest.importorskip("PIL.Image")
IDS = [f"p{k}" for k in range(6)]


@pytest.fixture
def pictured(project: Path) -> str:
    """A run of six examples with images; one is missing, one is no image."""
    rows = []
    for k, name in enumerate(IDS):
        file = project / f"{name}.jpg"
        if k == 1:
            file.write_text("not an image")
        elif k != 2:
            Image.effect_noise((640, 480), 40 + k).save(file)
        rows.append({"id": name, "references": ["a b", "c d"], "media": str(file)})
    (project / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    models = [{"human": {"held_out": 1}}]
    harness.evaluate(
        {"task": "t", "dataset": {"reader": "jsonl", "path": "data.jsonl"}, "models": models, "metrics": ["mine/length"]}, output="r"
    )
    return "r"


def pictures(run: str, **options):
    return thumbnails(IDS, examples_of(Run.open(run)), **options)


def test_images_are_embedded_and_others_named(pictured):
    result = pictures(pictured)
    assert list(result.data) == ["p0", "p3", "p4", "p5"]
    assert all(url.startswith("data:image/webp;base64,") for url in result.data.values())
    assert list(result.links) == ["p0", "p1", "p3", "p4", "p5"], "a click on a thumbnail leads to the file"
    assert result.links["p0"] == "p0.jpg" and pictures(pictured, folder=Path("my pages")).links["p0"] == "../p0.jpg"
    assert result.note == "Images of 6 examples: 4 as thumbnails, 1 linked to their files, 1 missing."


def test_the_budget_bounds_the_embedded_bytes(pictured):
    size = max(len(url) for url in pictures(pictured).data.values()) * 3 // 4
    result = pictures(pictured, budget=2 * size + 200)
    assert len(result.data) == 2 and len(result.links) == 5


def test_images_elsewhere_are_a_remark_and_changed_data_have_none(pictured, project):
    for name in IDS:
        (project / f"{name}.jpg").unlink(missing_ok=True)
    result = pictures(pictured)
    assert not result.data and result.note.startswith("No thumbnails: the images are not where the data set names them (")
    (project / "data.jsonl").write_text('{"id": "p0", "references": ["x", "y"]}\n')
    assert pictures(pictured).note == ""
    (project / "data.jsonl").unlink()
    assert pictures(pictured).note == ""


def test_a_run_without_images_has_no_block(finished, blocks):
    assert "g0-images" not in blocks(page.build([finished()]))


def test_the_page_shows_them(pictured, browse):
    with browse(page.write([pictured])) as view:
        view.click('.tabs a[href="#examples"]')
        view.wait_for_selector(".detail .picture img")
        assert view.locator(".row img").count() == 4
        view.keyboard.press("j")
        view.wait_for_selector("text=Image file")
