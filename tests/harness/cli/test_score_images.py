"""``harness score --images``: images by the ids of candidates, without references."""

from __future__ import annotations

import json

import numpy as np
import pytest

import harness
from harness.cli.main import main
from harness.errors import HarnessError
from harness.registry.torchvision_guard import guard_torchvision

pytest.importorskip("torch")
guard_torchvision()
pytest.importorskip("transformers")
Image = pytest.importorskip("PIL.Image")

from tests.support import tiny_towers  # noqa: E402

METRIC = "clipscore:weights=clip"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Two systems, three images named as COCO's, and a tiny CLIP."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "images").mkdir()
    rng = np.random.default_rng(0)
    for number in (42, 43, 44):
        pixels = rng.integers(0, 255, (20, 30, 3), dtype=np.uint8)
        name = f"COCO_val2014_{number:012d}.jpg"
        Image.fromarray(pixels).save(tmp_path / "images" / name)
    for system, word in (("a", "dog"), ("b", "cat")):
        records = [
            {"image_id": number, "caption": f"a {word} on grass"}
            for number in (42, 43, 44)
        ]
        (tmp_path / f"{system}.json").write_text(json.dumps(records))
    tiny_towers.write(tmp_path / "clip")
    return tmp_path


def test_images_alone_are_scored_and_shown(files, capsys, caplog):
    arguments = ["score", "a.json", "b.json", "--images", "images", "-m", METRIC]
    assert main([*arguments, "--json"]) == 0
    printed = capsys.readouterr()
    assert "found by number (3): the image of '42' is images" in caplog.text
    assert "COCO_val2014_000000000042.jpg" in caplog.text
    values = json.loads(printed.out)
    result = harness.score(["a.json", "b.json"], images="images", metrics=METRIC)
    assert result["a"]["clipscore"].value == values["results"][0]["value"]
    assert [row.system_b for row in result.comparisons] == ["a"]


def test_with_references_the_folder_goes_to_metrics_of_images(files, capsys):
    (files / "r.json").write_text(
        json.dumps({"42": ["a dog"], "43": ["a cat"], "44": ["a"]})
    )
    code = main(
        [
            *("score", "a.json", "--references", "r.json", "--images", "images"),
            *("-m", "rouge", "-m", "refclipscore:weights=clip", "--json"),
        ]
    )
    assert code == 0
    found = json.loads(capsys.readouterr().out)["results"]
    assert [row["metric"] for row in found] == ["rouge", "refclipscore"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no references; expected --references FILE, or --images FOLDER"),
        (
            ["--images", "images", "-m", "bleu"],
            "'bleu' needs references; metrics that read images alone are",
        ),
        (["--images", "images"], "hf download openai/clip-vit-base-patch32"),
        (["--images", "none", "-m", METRIC], "the folder of images cannot be read"),
        (["--images", "clip", "-m", METRIC], "no images in the folder"),
        (
            ["--images", "images", "-m", f"{METRIC},device=cuda:7"],
            "metric 'clipscore': no device 'cuda:7'; this machine has",
        ),
    ],
)
def test_mistakes_are_one_line(files, capsys, monkeypatch, arguments, message):
    constants = pytest.importorskip("huggingface_hub").constants
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(files / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert main(["score", "a.json", *arguments]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_a_missing_image_and_a_broken_one_are_named(files, capsys):
    (files / "images" / "COCO_val2014_000000000043.jpg").write_bytes(b"\xff\xd8\xff no")
    assert main(["score", "a.json", "--images", "images", "-m", METRIC]) == 2
    assert "000000000043.jpg" in capsys.readouterr().err
    (files / "images" / "COCO_val2014_000000000043.jpg").unlink()
    assert main(["score", "a.json", "--images", "images", "-m", METRIC]) == 2
    assert "no image of the example '43'" in capsys.readouterr().err


def test_captions_in_memory_name_the_folder_in_the_metric(files):
    captions = {"42": "a dog", "43": "a cat", "44": "a dog"}
    with pytest.raises(HarnessError, match="belong to files"):
        harness.score(captions, captions, METRIC, images="images")
    with pytest.raises(HarnessError, match="no references; expected them, or images="):
        harness.score(captions, metrics=METRIC)
    result = harness.score(
        captions,
        captions,
        {"clipscore": {"weights": "clip", "images": "images"}},
        allow_missing=True,
    )
    assert len(result["clipscore"].per_example) == 3


def test_texts_that_the_model_cuts_are_counted_once_with_their_prefix(files):
    """The prefix has three words: 12 tokens are left with 7 of the caption."""
    captions = {"42": "a dog " * 6, "43": "a cat", "44": "a dog"}
    (files / "a.json").write_text(json.dumps(captions))
    result = harness.score(["a.json", "b.json"], images="images", metrics=METRIC)
    notes = [note for note in result.to_dict()["notes"] if "tokens" in note]
    assert notes == [
        "a: CLIP clip reads 12 tokens of a text: captions that are longer: 1; tokens "
        "of them that are not read: 5"
    ]
