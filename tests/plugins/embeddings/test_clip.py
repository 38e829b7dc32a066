"""CLIP's text tower with random weights against open_clip, and bad weights files."""

from __future__ import annotations

import numpy as np
import pytest

from harness.errors import HarnessError, InputError
from harness_metrics.embeddings.clip import Clip


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    """A weights file of a CLIP with random weights, the model itself, and open_clip."""
    torch = pytest.importorskip("torch")
    from harness.registry.torchvision_guard import guard_torchvision

    guard_torchvision()
    open_clip = pytest.importorskip("open_clip")
    from safetensors.torch import save_file

    torch.manual_seed(0)
    model = open_clip.create_model("ViT-B-32", pretrained=None).eval()
    path = tmp_path_factory.mktemp("clip") / "model.safetensors"
    save_file(
        {key: value.clone().contiguous() for key, value in model.state_dict().items()},
        path,
    )
    return path, model, open_clip


@pytest.mark.slow
def test_text_vectors_equal_open_clip(weights, texts):
    path, model, open_clip = weights
    import torch

    embedding = Clip(weights=str(path), model="ViT-B-32", batch_size=2)
    vectors = embedding.encode(texts)
    with torch.inference_mode():
        expected = model.encode_text(
            open_clip.get_tokenizer("ViT-B-32")(texts), normalize=True
        ).numpy()
    assert vectors == pytest.approx(expected, abs=1e-5)
    assert (vectors.shape, vectors.dtype) == ((len(texts), 512), np.float32)
    assert embedding.signature().startswith("clip|ViT-B-32|")
    picture = pytest.importorskip("PIL.Image").new("RGB", (40, 30))
    assert embedding.towers.pixels(picture).shape == (224, 224, 3)
    with pytest.raises(InputError, match="not the weights of RN50"):
        Clip(weights=str(path), model="RN50").encode(["a"])


@pytest.mark.slow
def test_an_archive_of_openai_has_its_vectors_or_names_the_architecture(
    weights, texts, tmp_path
):
    from tests.support.torchscript_archives import write_archive

    path, model, _ = weights
    archive = tmp_path / "ViT-B-32.pt"
    write_archive(model.state_dict(), archive, quick_gelu=False)
    expected = Clip(weights=str(path), model="ViT-B-32").encode(texts)
    vectors = Clip(weights=str(archive)).encode(texts)
    assert (vectors * expected).sum(axis=1).min() > 0.999, "half precision"
    write_archive(model.state_dict(), archive, quick_gelu=True)
    with pytest.raises(InputError, match="is of GELU; model: ViT-B-32-quickgelu"):
        Clip(weights=str(archive), model="ViT-B-32").encode(texts)
    quick = Clip(weights=str(archive))
    assert quick.found.model == "ViT-B-32-quickgelu"
    assert np.abs(quick.encode(texts) - vectors).max() > 1e-3


@pytest.mark.slow
def test_weights_alone_are_refused_without_their_architecture(weights):
    path, *_ = weights
    with pytest.raises(
        InputError,
        match="do not tell their activation; .*model=ViT-B-32 for weights that "
        "open_clip trained, model=ViT-B-32-quickgelu for those of OpenAI",
    ):
        Clip(weights=str(path)).signature()
    with pytest.raises(InputError, match="have another activation than ViT-B-32"):
        Clip(weights="openai", model="ViT-B-32").signature()


@pytest.mark.slow
def test_an_unknown_architecture_gets_a_hint(tmp_path):
    pytest.importorskip("open_clip")
    (tmp_path / "w.pt").write_bytes(b"")
    with pytest.raises(
        HarnessError, match=r"open_clip has no model 'ViT-B-3'; did you mean 'ViT-B-32'"
    ):
        Clip(weights=str(tmp_path / "w.pt"), model="ViT-B-3").encode(["a"])


def test_a_missing_weights_file_is_an_input_error(tmp_path):
    embedding = Clip(weights=str(tmp_path / "none.pt"))
    for call in (embedding.signature, lambda: embedding.encode(["a"])):
        with pytest.raises(
            InputError, match=r"none\.pt: .*no such file or folder of CLIP weights"
        ):
            call()


def test_the_default_is_the_published_model_or_says_how_to_fetch_it(
    tmp_path, monkeypatch
):
    constants = pytest.importorskip("huggingface_hub").constants
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(InputError, match="hf download openai/clip-vit-base-patch32"):
        Clip().signature()
