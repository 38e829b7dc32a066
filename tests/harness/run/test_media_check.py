"""Media of examples are looked for before a run."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.contracts import Example
from harness.errors import InputError
from harness.run.media_check import require_files
from harness.run.metric_plan import ModelPlan


class Opens:
    """An adapter that opens media."""

    def __init__(self, folder: Path | None = None) -> None:
        self.media_folder = folder


def check(media, params, adapter=None, **dataset):
    plan = SimpleNamespace(
        spec=SimpleNamespace(dataset=SimpleNamespace(params=dataset)),
        metrics=[],
        models=[ModelPlan("mine", "x", params, adapter or object())],
    )
    require_files(
        plan, [Example(f"e{k}", ("r",), name) for k, name in enumerate(media)]
    )


@pytest.fixture
def images(tmp_path):
    folder = tmp_path / "images"
    folder.mkdir()
    for name in ("a.png", "b.jpg", "c.d.png"):
        (folder / name).write_bytes(b"\x89PNG\r\n\x1a\n")
    return folder


def test_media_that_are_there(images):
    check(
        ["a.png", "b.jpg", "images/a.png", "a", "c.d.png", str(images / "b.jpg")],
        {"images": str(images)},
    )
    check(
        ["dataset:x?column=i&row=0/a.png", "hf://datasets/x/a.png"],
        {"images": str(images)},
    )
    check(["nothing.png", None], {}, Opens()), check(["nothing.png"], {})
    check([str(images / "a.png")], {}, Opens(), media_root="x")


@pytest.mark.parametrize(
    ("media", "message"),
    [
        (
            ["a.png", "x.png", "b.jpg"],
            r"model 'mine': 1 of 3 examples names a file that is not there, "
            r"such as \S+/images/x.png of 'e1': ",
        ),
        (["x", "y"], "2 of 2 examples name a file that is not there"),
        (["other/a.png"], "1 of 1 example names a file that is not there"),
        (["../spec.yaml"], "1 of 1 example names a file that is not there"),
        (
            ["a.png", None],
            "1 of 2 examples names no image or other medium, such as 'e1': columns: "
            "{media: NAME} of the data set",
        ),
    ],
)
def test_media_that_are_absent_are_counted_with_what_names_them(images, media, message):
    with pytest.raises(InputError, match=message):
        check(media, {"images": str(images)})


def test_paths_with_a_root_are_looked_for_where_a_model_opens_media(images):
    with pytest.raises(
        InputError,
        match="such as nowhere/a.png of 'e0': .* media_root of the data set, "
        "is their folder",
    ):
        check(["nowhere/a.png"], {}, Opens(), media_root="nowhere")
    check(["nowhere/a.png"], {}, None, media_root="nowhere")
