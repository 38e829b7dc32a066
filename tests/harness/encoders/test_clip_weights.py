"""CLIP models of each kind of folder, by tiny random models: vectors of the library,
wrong kinds, images.
"""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from harness.encoders.clip_weights import find_clip_weights
from harness.encoders.open_clip_towers import stretch_positions
from harness.encoders.towers import encode_images, encode_texts
from harness.errors import InputError
from harness.registry.torchvision_guard import guard_torchvision

torch = pytest.importorskip("torch")
guard_torchvision()
transformers = pytest.importorskip("transformers")
Image = pytest.importorskip("PIL.Image")

from tests.support import tiny_models, tiny_towers  # noqa: E402

TEXTS = ["a dog runs on grass", "cat", "a dog on a cat on a dog on a cat on a dog"]


@pytest.fixture(scope="module", params=["clip", "siglip"])
def folder(request, tmp_path_factory):
    kind = request.param
    return tiny_towers.write(tmp_path_factory.mktemp("towers") / kind, kind)


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    """Names of images of several sizes and formats."""
    folder = tmp_path_factory.mktemp("pictures")
    rng = np.random.default_rng(0)
    names = []
    for k, suffix in enumerate(["jpg", "png", "webp"] * 3):
        pixels = rng.integers(0, 255, (20 + k, 31, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{k}.{suffix}")
        names.append(str(folder / f"{k}.{suffix}"))
    return names


def open_rgb(name):
    with Image.open(name) as image:
        return image.convert("RGB")


def load(folder):
    found = find_clip_weights(str(folder), None, subject="the test")
    return found.load("cpu", "float32")


def test_vectors_are_those_of_transformers(folder, pictures):
    towers = load(folder)
    model = transformers.AutoModel.from_pretrained(str(folder)).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder))
    padding = "max_length" if folder.name == "siglip" else True
    inputs = tokenizer(TEXTS, padding=padding, truncation=True, return_tensors="pt")
    processor = transformers.AutoImageProcessor.from_pretrained(str(folder))
    images = processor(images=[open_rgb(n) for n in pictures], return_tensors="pt")
    with torch.inference_mode():
        if folder.name == "siglip":
            text = model.get_text_features(input_ids=inputs["input_ids"])
        else:
            text = model.get_text_features(
                input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"]
            )
        image = model.get_image_features(images["pixel_values"])

    def unit(features):
        vectors = getattr(features, "pooler_output", features)
        return torch.nn.functional.normalize(vectors, dim=-1).numpy()

    assert encode_texts(towers, TEXTS) == pytest.approx(unit(text), abs=1e-6)
    assert encode_texts(towers, TEXTS, batch_size=1) == pytest.approx(
        unit(text), abs=1e-6
    )
    for size in (None, 2):
        vectors = encode_images(towers, pictures, open_rgb, batch_size=size)
        assert vectors == pytest.approx(unit(image), abs=1e-6)


def test_a_folder_of_sentence_transformers_holds_one(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "0_CLIPModel")
    (tmp_path / "modules.json").write_text("[]")
    assert np.array_equal(
        encode_texts(load(tmp_path), TEXTS), encode_texts(load(folder), TEXTS)
    )


def test_a_folder_of_open_clip_is_read_by_its_configuration(tmp_path, pictures):
    open_clip = pytest.importorskip("open_clip")
    folder = tiny_towers.open_clip_folder(tmp_path / "tiny")
    model, _, preprocess = open_clip.create_model_and_transforms(f"local-dir:{folder}")
    model.eval()
    towers = load(folder)
    with torch.inference_mode():
        text = model.encode_text(open_clip.tokenize(TEXTS), normalize=True)
        image = model.encode_image(
            torch.stack([preprocess(open_rgb(name)) for name in pictures]),
            normalize=True,
        )
    assert encode_texts(towers, TEXTS) == pytest.approx(text.numpy(), abs=1e-6)
    assert encode_images(towers, pictures, open_rgb) == pytest.approx(
        image.numpy(), abs=1e-6
    )


def test_long_clip_reads_248_tokens(tmp_path):
    pytest.importorskip("open_clip")
    towers = load(tiny_towers.open_clip_folder(tmp_path / "tiny"))
    state = dict(towers.network.state_dict())
    first, second = torch.ones(248, 16), torch.full((248, 16), 2.0)
    state["positional_embedding"] = first
    state["positional_embedding_res"] = second
    towers.network.load_state_dict(
        stretch_positions(towers.network, towers.tokenizer, state)
    )
    table = towers.network.positional_embedding
    assert table.shape == (248, 16)
    assert table[:, 0].tolist() == [1.0] * 20 + [2.0] * 228
    assert towers.network.attn_mask.shape == (248, 248)
    towers.context = 248
    long = "dog " * 200
    rows = towers.token_ids([long])
    assert len(rows[0]) == 202 and encode_texts(towers, [long]).shape == (1, 8)


def test_models_of_other_kinds_and_incomplete_folders_are_named(tmp_path):
    tiny_models.gpt2(tmp_path / "gpt2")
    with pytest.raises(InputError, match="of type 'gpt2', which has no towers"):
        load(tmp_path / "gpt2")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no CLIP model: the folder has neither"):
        load(tmp_path / "empty")
    folder = tiny_towers.write(tmp_path / "clip")
    for name in ("tokenizer.json", "tokenizer_config.json", "preprocessor_config.json"):
        (folder / name).unlink(missing_ok=True)
    with pytest.raises(InputError, match="the folder has no tokenizer"):
        load(folder)
