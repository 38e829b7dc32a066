"""Thumbnails of examples: which are embedded, which are linked, and what is said."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

import harness
from harness import page
from harness.contracts import Example
from harness.page.examples import examples_of
from harness.page.thumbnails import Thumbnails, image_folders, thumbnails
from harness.run.finished import Run
from harness.rundir.provenance import Provenance

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
        {
            "task": "t",
            "dataset": {"reader": "jsonl", "path": "data.jsonl"},
            "models": models,
            "metrics": ["mine/length"],
        },
        output="r",
    )
    return "r"


def pictures(run: str, **options):
    return thumbnails(IDS, examples_of(Run.open(run)), **options)


def test_images_are_embedded_and_others_named(pictured):
    result = pictures(pictured)
    assert list(result.data) == ["p0", "p3", "p4", "p5"]
    assert all(
        url.startswith("data:image/webp;base64,") for url in result.data.values()
    )
    assert list(result.links) == ["p0", "p1", "p3", "p4", "p5"], (
        "a click on a thumbnail leads to the file"
    )
    assert (
        result.links["p0"] == "p0.jpg"
        and pictures(pictured, folder=Path("my pages")).links["p0"] == "../p0.jpg"
    )
    assert (
        result.note
        == "Images of 6 examples: 4 as thumbnails, 1 linked to their files, 1 missing."
    )


def test_images_that_are_linked_alone_have_a_block():
    assert (
        len(Thumbnails({}, {"a": "a.jpg"}).blocks("g")) == 1
        and Thumbnails().blocks("g") == []
    )


def test_files_that_are_all_there_are_not_missing(pictured):
    examples = [
        example
        for example in examples_of(Run.open(pictured))
        if Path(example.media).is_file()
    ]
    assert len(examples) == 5
    assert (
        thumbnails(IDS, examples).note
        == "Images of 6 examples: 4 as thumbnails, 1 linked to their files."
    )
    some = thumbnails(["p0", "p3"], examples)
    assert list(some.data) == list(some.links) == ["p0", "p3"], (
        "those on the page alone"
    )
    assert some.note == "", "nothing is missing"


def test_media_that_are_no_images_have_no_thumbnail(project):
    (project / "a.mp4").write_text("a video")
    medias = [None, str(project / "a.mp4"), str(project / "gone.PNG")]
    data = [Example(name, ("a b",), media) for name, media in zip("xyz", medias)]
    assert thumbnails(["x", "y"], data) == Thumbnails()
    assert (
        "gone.PNG); media_root of the data set, or images of a model, is their folder."
        in thumbnails(["x", "y", "z"], data).note
    )


@pytest.mark.parametrize("media", ["a.png", "images/a.png", "{}/images/a.png"])
def test_thumbnails_come_from_the_folder_that_a_model_read(project, media):
    (project / "images").mkdir()
    Image.effect_noise((60, 40), 40).save(project / "images" / "a.png")
    (project / "secret.png").write_bytes((project / "images" / "a.png").read_bytes())
    data = [
        Example("x", ("a b",), media.format(project)),
        Example("y", ("a b",), "../secret.png"),
    ]
    made = thumbnails(
        ["x", "y"], data, project, places=[project / "nothing", project / "images"]
    )
    assert list(made.data) == ["x"] and made.links == {"x": "images/a.png"}
    run = SimpleNamespace(
        provenance=SimpleNamespace(
            models=[
                SimpleNamespace(params={"images": "images"}),
                SimpleNamespace(params={}),
            ],
            metrics=[SimpleNamespace(params={"images": 3})],
        )
    )
    assert image_folders([run, run]) == [Path("images")]


def test_an_image_of_too_many_pixels_is_named_and_not_decoded(
    project, monkeypatch, recwarn
):
    files = {"large": (13_000, 13_000), "bomb": (60_000, 60_000), "fair": (60, 40)}
    for name, size in files.items():
        width, height = (part.to_bytes(4, "big") for part in size)
        header = b"IHDR" + width + height + bytes([1, 0, 0, 0, 0])
        if name == "fair":
            Image.effect_noise(size, 40).save(project / "fair.png")
        else:  # the header alone: what says more is not decoded
            chunk = (
                (13).to_bytes(4, "big") + header + zlib.crc32(header).to_bytes(4, "big")
            )
            data = zlib.compress(bytes(1000))
            block = (
                len(data).to_bytes(4, "big")
                + b"IDAT"
                + data
                + zlib.crc32(b"IDAT" + data).to_bytes(4, "big")
            )
            (project / f"{name}.png").write_bytes(b"\x89PNG\r\n\x1a\n" + chunk + block)
    data = [Example(name, ("a b",), str(project / f"{name}.png")) for name in files]
    result = thumbnails(list(files), data)
    assert list(result.data) == ["fair"] and list(result.links) == list(files)
    assert result.note.endswith(
        "2 linked to their files. 2 images of more than 40 million pixels: "
        "no thumbnail."
    )
    assert not recwarn.list


def test_a_damaged_image_is_linked_alone(project):
    file = project / "a.png"
    Image.effect_noise((64, 48), 40).save(file)
    content = file.read_bytes()
    start = content.index(b"IDAT")
    file.write_bytes(
        content[: start - 4]
        + (10).to_bytes(4, "big")
        + content[start : start + 14]
        + zlib.crc32(content[start : start + 14]).to_bytes(4, "big")
        + b"no chunk at all"
    )
    result = thumbnails(["x"], [Example("x", ("a b",), str(file))])
    assert result.data == {} and list(result.links) == ["x"]
    assert (
        result.note == "Images of 1 examples: 0 as thumbnails, 1 linked to their files."
    )


def test_the_budget_bounds_the_embedded_bytes(pictured):
    size = max(len(url) for url in pictures(pictured).data.values()) * 3 // 4
    result = pictures(pictured, budget=2 * size + 200)
    assert len(result.data) == 2 and len(result.links) == 5
    assert list(result.data) == ["p0", "p3"], "spread over the examples"
    assert list(pictures(pictured, budget=3 * size + 200).data) == ["p0", "p3", "p5"]
    first = pictures(pictured, budget=size + 200)
    assert list(first.data) == ["p0"]
    assert (
        first.note
        == "Images of 6 examples: 1 as thumbnails, 4 linked to their files, 1 missing."
    )
    whole = sum(
        len(base64.b64decode(url.partition(",")[2]))
        for url in pictures(pictured).data.values()
    )
    assert [len(pictures(pictured, budget=whole - less).data) for less in (0, 1)] == [
        4,
        3,
    ]


def test_images_elsewhere_are_a_remark_and_changed_data_have_none(pictured, project):
    for name in IDS:
        (project / f"{name}.jpg").unlink(missing_ok=True)
    result = pictures(pictured)
    assert not result.data and result.note.startswith(
        "No thumbnails: the images are not where the data set names them ("
    )
    (project / "data.jsonl").write_text('{"id": "p0", "references": ["x", "y"]}\n')
    assert pictures(pictured).note == ""
    (project / "data.jsonl").unlink()
    assert pictures(pictured).note == ""


def test_data_of_another_fingerprint_or_without_a_reader_are_not_read(pictured):
    run = Run.open(pictured)
    content = run.provenance.content
    assert len(examples_of(run)) == 6
    for fingerprint in ("", "~"):
        changed = {**content, "data": {**content["data"], "fingerprint": fingerprint}}
        assert examples_of(replace(run, provenance=Provenance(changed))) == []
    for dataset in ({**content["spec"]["dataset"], "reader": "gone"}, None):
        changed = {**content, "spec": {**content["spec"], "dataset": dataset}}
        assert examples_of(replace(run, provenance=Provenance(changed))) == []


def test_images_are_on_the_page_unless_it_is_asked_for_without(pictured, blocks):
    assert len(json.loads(blocks(page.build([pictured]))["g0-images"])["data"]) == 4
    assert "g0-images" not in blocks(
        page.build([pictured], page.PageOptions(images=False))
    )


def test_a_run_without_images_has_no_block(finished, blocks):
    assert "g0-images" not in blocks(page.build([finished()]))


@pytest.mark.slow
def test_the_page_shows_them(pictured, browse):
    with browse(page.write([pictured])) as view:
        view.click('.tabs a[href="#examples"]')
        view.wait_for_selector(".detail .picture img")
        assert view.locator(".row img").count() == 4
        view.keyboard.press("j")
        view.wait_for_selector("text=Image file")
