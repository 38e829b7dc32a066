"""CLIP image vectors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from harness.contracts import Example, Failure
from harness.errors import InputError
from harness.registry.torchvision_guard import guard_torchvision
from harness_models.clipcap.clip_images import ClipImages
from tests.support.torchscript_archives import write_archive

NAME = "ViT-S-32-alt"


@pytest.fixture(scope="module")
def clip_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random weights, an image and a damaged image."""
    guard_torchvision()
    open_clip = pytest.importorskip("open_clip")
    path = tmp_path_factory.mktemp("clip")
    torch.manual_seed(0)
    torch.save(open_clip.create_model(NAME).state_dict(), path / "clip.pt")
    pixels = np.random.default_rng(0).integers(0, 255, (40, 30, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(path / "a.png")
    (path / "broken.jpg").write_bytes(b"\xff\xd8\xff no image")
    return path


@pytest.mark.slow
def test_a_failure_takes_the_place_of_its_image(clip_folder: Path):
    images = ClipImages(model=NAME, weights=clip_folder / "clip.pt", images=clip_folder)
    names = ("broken.jpg", "a.png", "missing.png", "a.png")
    broken, first, missing, second = images.encode(
        [Example(name, ("r",), name) for name in names]
    )
    assert isinstance(first, torch.Tensor) and isinstance(second, torch.Tensor)
    assert first.ndim == 1 and first.dtype == torch.float32
    torch.testing.assert_close(first, second)
    assert (
        isinstance(broken, Failure)
        and "broken.jpg: is no image, video or sound by its content" in broken.reason
    )
    assert (
        isinstance(missing, Failure) and "missing.png: no such image" in missing.reason
    )
    assert images.encode([]) == []


def test_models_and_weights_that_do_not_exist_are_refused(clip_folder: Path):
    with pytest.raises(
        InputError, match="open_clip has no model 'ViT-B-33'; did you mean 'ViT-B-32'"
    ):
        ClipImages(model="ViT-B-33", weights=clip_folder / "clip.pt")
    with pytest.raises(
        InputError, match="none.pt: .* no such file or folder of CLIP weights"
    ):
        ClipImages(model=NAME, weights=clip_folder / "none.pt")


def test_weights_of_another_model_are_refused(clip_folder: Path):
    torch.save({"x": torch.ones(2)}, clip_folder / "other.pt")
    with pytest.raises(
        InputError, match=f"other.pt: not the weights of {NAME}"
    ) as caught:
        ClipImages(model=NAME, weights=clip_folder / "other.pt")
    assert "\n" not in str(caught.value)


def test_an_archive_of_openai_gives_the_vectors_of_its_tensors(clip_folder: Path):
    state = torch.load(clip_folder / "clip.pt", weights_only=True)
    archive = clip_folder / "openai.pt"
    settings = {"context_length": torch.tensor(77), "vocab_size": torch.tensor(49408)}
    write_archive({**state, **settings}, archive, quick_gelu=False)
    example = [Example("a.png", ("r",), "a.png")]
    vectors = [
        ClipImages(model=NAME, weights=weights, images=clip_folder).encode(example)[0]
        for weights in (clip_folder / "clip.pt", archive)
    ]
    similarity = torch.nn.functional.cosine_similarity(*vectors, dim=0)
    assert similarity > 0.999, "half precision"


def test_quickgelu_in_an_architecture_of_gelu_is_refused(clip_folder: Path):
    write_archive({"x": torch.ones(2)}, clip_folder / "quick.pt", quick_gelu=True)
    with pytest.raises(
        InputError,
        match="quick.pt: the weights are of QuickGELU, ViT-B-32 is of GELU; "
        "model: ViT-B-32-quickgelu",
    ):
        ClipImages(model="ViT-B-32", weights=clip_folder / "quick.pt")
