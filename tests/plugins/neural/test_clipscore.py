"""CLIPScore with vectors by colour in place of the two towers: formulas, images,
errors; once with open_clip and random weights.
"""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import CaptionSet
from harness.errors import HarnessError, InputError
from harness.registry.torchvision_guard import guard_torchvision
from harness.run.features import FeatureCache
from harness.run.metric_plan import metric_plans
from harness_metrics.neural.clipscore import (
    ClipScore,
    PacScore,
    PrefixedClip,
    RefClipScore,
    RefPacScore,
    open_picture,
)

Image = pytest.importorskip("PIL.Image")


@pytest.fixture
def pictures(tmp_path):
    for name, colour in (("red.png", (255, 0, 0)), ("green.png", (0, 255, 0))):
        Image.new("RGB", (8, 8), colour).save(tmp_path / name)
    (tmp_path / "broken.png").write_bytes(b"not an image")
    return tmp_path


def mean_colours(names):
    """Return the mean colour of each image."""
    pixels = [np.asarray(open_picture(name), dtype=float) for name in names]
    return np.array([image.mean(axis=(0, 1)) / 255 for image in pixels])


def by_colour(metric):
    """Replace the towers: the vector of a text is the colour that it names, the vector
    of an image its mean colour.
    """
    colours = {
        "red": (1.0, 0.0, 0.0),
        "green": (0.0, 1.0, 0.0),
        "blue": (0.0, 0.0, 1.0),
    }

    def encode(texts):
        assert all(text.startswith("A photo depicts ") for text in texts)
        return np.array([colours[text.split()[-1]] for text in texts], dtype=np.float32)

    metric.clip.signature = lambda: "clip|by-colour"
    metric.clip.encode = encode
    metric._encode = lambda names: np.array(
        [
            np.asarray(open_picture(i), dtype=float).mean(axis=(0, 1)) / 255
            for i in names
        ]
    )
    return metric


def test_formulas(pictures):
    features = FeatureCache()
    sets = [
        CaptionSet("x", ("a red", "a blue"), ("the red", "the green"), media="red.png")
    ]
    batch = features.batch(sets)
    clip = by_colour(ClipScore(weights="none", images=str(pictures)))
    assert clip.scores(batch, features, None) == pytest.approx([(2.5 + 0.0) / 2])
    ref = by_colour(RefClipScore(weights="none", images=str(pictures)))
    assert ref.scores(batch, features, None) == pytest.approx(
        [(2 * 2.5 * 1 / 3.5 + 0.0) / 2]
    )


def test_pac_score_is_clipscore_with_factor_two(pictures):
    features = FeatureCache()
    batch = features.batch(
        [
            CaptionSet(
                "x", ("a red", "a blue"), ("the red", "the green"), media="red.png"
            )
        ]
    )
    pac = by_colour(PacScore(weights="none", images=str(pictures)))
    assert pac.scores(batch, features, None) == pytest.approx([(2.0 + 0.0) / 2])
    assert pac.signature() == "pac-score|w:2.0|clip|by-colour"
    ref = by_colour(RefPacScore(weights="none", images=str(pictures)))
    assert ref.scores(batch, features, None) == pytest.approx(
        [(2 * 2.0 * 1 / 3.0 + 0.0) / 2]
    )
    assert ref.clip.model == "ViT-B-32-quickgelu"


@pytest.mark.parametrize(
    ("media", "message"),
    [
        (None, "no image of the example 'x'"),
        (
            "gone.png",
            r"gone\.png: no such image \(example 'x'\); "
            r"set the parameter images of 'clipscore' to its folder",
        ),
        ("broken.png", r"broken\.png: is no image, video or sound by its content"),
    ],
)
def test_an_unreadable_image_is_an_input_error(pictures, media, message):
    features = FeatureCache()
    batch = features.batch([CaptionSet("x", ("a red",), ("a red",), media=media)])
    with pytest.raises(InputError, match=message):
        by_colour(ClipScore(weights="none", images=str(pictures))).scores(
            batch, features, None
        )


def test_each_image_is_encoded_once(pictures, monkeypatch):
    metric = by_colour(ClipScore(weights="none", images=str(pictures)))
    encode = metric._encode
    sizes = []
    monkeypatch.setattr(
        metric, "_encode", lambda names: sizes.append(len(names)) or encode(names)
    )
    features = FeatureCache()
    sets = [
        CaptionSet(str(i), ("a red",), ("a red",), media=name)
        for i, name in enumerate(["red.png", "green.png"] * 2)
    ]
    batch = features.batch(sets)
    assert metric.scores(batch, features, None) == pytest.approx([2.5, 0.0, 2.5, 0.0])
    assert metric.image_vectors(batch, features).shape == (4, 3)
    assert sizes == [2]


def test_the_prefix_is_part_of_the_embedding():
    clip = by_colour(ClipScore(weights="none")).clip
    embedding = PrefixedClip(clip)
    assert embedding.signature() == "clip|by-colour|prefix"
    assert embedding.encode(["a red"]).tolist() == [[1.0, 0.0, 0.0]]


@pytest.mark.parametrize("metric", [PacScore, RefPacScore])
def test_weights_of_pac_scores_are_required(metric):
    with pytest.raises(
        HarnessError,
        match=f"metric '{metric.label}' needs weights: a local file of weights",
    ):
        metric()


def test_without_images_the_parameter_is_named():
    features = FeatureCache()
    batch = features.batch([CaptionSet("x", ("a red",), ())])
    with pytest.raises(
        InputError, match="the example 'x' has none; .*clipscore:images=FOLDER"
    ):
        by_colour(ClipScore(weights="none")).scores(batch, features, None)


def test_images_are_found_by_the_ids_of_examples(pictures):
    (pictures / "red.png").rename(pictures / "COCO_val2014_000000000042.png")
    metric = by_colour(ClipScore(weights="none", images=str(pictures)))
    features = FeatureCache()
    sets = [CaptionSet(i, ("a red",), ()) for i in ("42", "green", "green.png")]
    scores = metric.scores(features.batch(sets), features, None)
    assert scores == pytest.approx([2.5, 0.0, 0.0])
    with pytest.raises(InputError, match="no image of the example '43'"):
        metric.scores(
            features.batch([CaptionSet("43", ("a red",), ())]), features, None
        )


@pytest.mark.slow
def test_with_open_clip_and_random_weights(pictures, tmp_path):
    pytest.importorskip("torch")
    guard_torchvision()
    open_clip = pytest.importorskip("open_clip")
    from safetensors.torch import save_file

    model = open_clip.create_model("ViT-B-32", pretrained=None)
    save_file(
        {k: v.clone().contiguous() for k, v in model.state_dict().items()},
        tmp_path / "w.safetensors",
    )
    features = FeatureCache()
    batch = features.batch(
        [CaptionSet("x", ("a red square",), ("a red box",), media="red.png")]
    )
    metric = ClipScore(
        weights=str(tmp_path / "w.safetensors"),
        model="ViT-B-32",
        images=str(pictures),
    )
    (value,) = metric.scores(batch, features, None)
    assert 0 <= value <= 2.5


def test_devices_share_texts_and_images(pictures, tmp_path):
    pytest.importorskip("torch")
    guard_torchvision()
    pytest.importorskip("transformers")
    from tests.support import tiny_towers

    weights = str(tiny_towers.write(tmp_path / "clip"))
    systems = [["a dog", "cat"], ["a cat runs", "dog"]]
    values = []
    for device in ("cpu", ["cpu", "cpu:0"]):
        metric = {"clipscore": {"weights": weights, "device": device}}
        plan = metric_plans([metric])
        assert len(plan) == 1, "a list of devices is no axis of the grid"
        features = FeatureCache()
        sets = [
            CaptionSet(str(k), tuple(texts), (), media=str(pictures / name))
            for k, (texts, name) in enumerate(zip(systems, ("red.png", "green.png")))
        ]
        batch = features.batch(sets)
        values.append(plan[0].metric.scores(batch, features, None))
    assert values[1] == pytest.approx(values[0], abs=1e-6)
