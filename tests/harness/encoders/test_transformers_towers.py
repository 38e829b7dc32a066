"""CLIP and SigLIP of transformers, tiny and random: vectors of the library, formats of
numbers, wrong kinds of folders.
"""

from __future__ import annotations

import pytest

from harness.encoders.towers import encode_images, encode_texts
from harness.encoders.transformers_towers import TransformersTowers
from harness.errors import InputError
from harness.registry.torchvision_guard import guard_torchvision

torch = pytest.importorskip("torch")
guard_torchvision()
transformers = pytest.importorskip("transformers")
pytest.importorskip("PIL.Image")

from tests.support import tiny_models, tiny_towers  # noqa: E402

TEXTS = tiny_towers.TEXTS
open_rgb = tiny_towers.open_rgb


@pytest.fixture(scope="module", params=["clip", "siglip"])
def folder(request, tmp_path_factory):
    kind = request.param
    return tiny_towers.write(tmp_path_factory.mktemp("towers") / kind, kind)


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    return tiny_towers.pictures(tmp_path_factory.mktemp("pictures"))


def test_vectors_are_those_of_transformers(folder, pictures):
    towers = TransformersTowers(folder, "cpu", "float32")
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


def test_half_precision_is_near_and_comes_as_float32(folder, pictures):
    exact = TransformersTowers(folder, "cpu", "float32")
    rounded = TransformersTowers(folder, "cpu", "bfloat16")
    for encode, items in (
        (encode_texts, TEXTS),
        (lambda t, n: encode_images(t, n, open_rgb), pictures),
    ):
        vectors = encode(rounded, items)
        assert vectors.dtype == "float32"
        assert vectors == pytest.approx(encode(exact, items), abs=0.05)


def test_tokens_are_whole_and_pixels_of_one_shape(folder, pictures):
    towers = TransformersTowers(folder, "cpu", "float32")
    assert towers.context == tiny_towers.LENGTH
    assert [len(ids) for ids in towers.token_ids(TEXTS)] == [7, 3, 16]
    shapes = {towers.pixels(open_rgb(name)).shape for name in pictures}
    assert shapes == {(3, tiny_towers.SIZE, tiny_towers.SIZE)}


def test_models_of_other_kinds_and_incomplete_folders_are_named(tmp_path):
    tiny_models.gpt2(tmp_path / "gpt2")
    with pytest.raises(InputError, match="of type 'gpt2', which has no towers"):
        TransformersTowers(tmp_path / "gpt2", "cpu", "float32")
    folder = tiny_towers.write(tmp_path / "clip")
    for name in ("tokenizer.json", "tokenizer_config.json", "preprocessor_config.json"):
        (folder / name).unlink(missing_ok=True)
    with pytest.raises(InputError, match="the folder has no tokenizer"):
        TransformersTowers(folder, "cpu", "float32")
