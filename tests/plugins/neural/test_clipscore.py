"""CLIPScore with a stand-in for the two towers: formulas, images, mistakes; and once with open_clip and random weights."""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import CaptionSet
from harness.errors import HarnessError, InputError
from harness.plugins.neural.clipscore import ClipScore, RefClipScore
from harness.run.features import FeatureCache

Image = pytest.importorskip("PIL.Image")


@pytest.fixture
def pictures(tmp_path):
    for name, colour in (("red.png", (255, 0, 0)), ("green.png", (0, 255, 0))):
        Image.new("RGB", (8, 8), colour).save(tmp_path / name)
    (tmp_path / "broken.png").write_bytes(b"not an image")
    return tmp_path


def stand_in(metric):
    """Unit vectors by colour: a text by the colour it names, an image by its mean colour."""
    colours = {"red": (1.0, 0.0, 0.0), "green": (0.0, 1.0, 0.0), "blue": (0.0, 0.0, 1.0)}

    def encode(texts):
        assert all(text.startswith("A photo depicts ") for text in texts)
        return np.array([colours[text.split()[-1]] for text in texts], dtype=np.float32)

    metric.clip.signature = lambda: "clip|stand-in"
    metric.clip.encode = encode
    metric._encode = lambda images: np.array([np.asarray(i, dtype=float).mean(axis=(0, 1)) / 255 for i in images])
    return metric


def test_formulas(pictures):
    features = FeatureCache()
    sets = [CaptionSet("x", ("a red", "a blue"), ("the red", "the green"), media="red.png")]
    batch = features.batch(sets)
    clip = stand_in(ClipScore(weights="none", images=str(pictures)))
    assert clip.scores(batch, features, None) == pytest.approx([(2.5 + 0.0) / 2])
    ref = stand_in(RefClipScore(weights="none", images=str(pictures)))
    assert ref.scores(batch, features, None) == pytest.approx([(2 * 2.5 * 1 / 3.5 + 0.0) / 2])


@pytest.mark.parametrize(
    ("media", "message"),
    [(None, "the example 'x' names none"), ("gone.png", "no such image"), ("broken.png", "the image does not decode")],
)
def test_a_bad_image_is_named(pictures, media, message):
    features = FeatureCache()
    batch = features.batch([CaptionSet("x", ("a red",), ("a red",), media=media)])
    with pytest.raises(InputError, match=message):
        stand_in(ClipScore(weights="none", images=str(pictures))).scores(batch, features, None)


def test_weights_are_asked_for_in_one_line():
    with pytest.raises(HarnessError, match="metric 'clipscore' needs weights: a local file of open_clip weights"):
        ClipScore()


@pytest.mark.slow
def test_with_open_clip_and_random_weights(pictures, tmp_path):
    pytest.importorskip("torch")
    from harness.registry.torchvision_guard import guard_torchvision

    guard_torchvision()
    open_clip = pytest.importorskip("open_clip")
    from safetensors.torch import save_file

    model = open_clip.create_model("ViT-B-32", pretrained=None)
    save_file({k: v.clone().contiguous() for k, v in model.state_dict().items()}, tmp_path / "w.safetensors")
    features = FeatureCache()
    batch = features.batch([CaptionSet("x", ("a red square",), ("a red box",), media="red.png")])
    metric = ClipScore(weights=str(tmp_path / "w.safetensors"), images=str(pictures))
    (value,) = metric.scores(batch, features, None)
    assert 0 <= value <= 2.5
