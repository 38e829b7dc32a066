"""CLIP of open_clip, tiny and random: vectors of the library, short batches, stretched
tables of positions, files of weights.
"""

from __future__ import annotations

import pytest

from harness.encoders.open_clip_towers import (
    OpenClipTowers,
    check_architecture,
    load_state,
    stretch_positions,
)
from harness.encoders.towers import encode_images, encode_texts
from harness.errors import InputError
from harness.registry.torchvision_guard import guard_torchvision

torch = pytest.importorskip("torch")
guard_torchvision()
open_clip = pytest.importorskip("open_clip")
pytest.importorskip("PIL.Image")

from tests.support import tiny_towers  # noqa: E402

TEXTS = tiny_towers.TEXTS
open_rgb = tiny_towers.open_rgb


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    return tiny_towers.pictures(tmp_path_factory.mktemp("pictures"))


def test_a_folder_of_open_clip_is_read_by_its_configuration(tmp_path, pictures):
    folder = tiny_towers.open_clip_folder(tmp_path / "tiny")
    model, _, preprocess = open_clip.create_model_and_transforms(f"local-dir:{folder}")
    model.eval()
    towers = OpenClipTowers(folder, "tiny", "cpu", "float32")
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
    folder = tiny_towers.open_clip_folder(tmp_path / "tiny")
    towers = OpenClipTowers(folder, "tiny", "cpu", "float32")
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


def test_positions_behind_the_longest_text_change_nothing(tmp_path):
    folder = tiny_towers.open_clip_folder(tmp_path / "tiny")
    towers = OpenClipTowers(folder, "tiny", "cpu", "float32")
    assert towers.is_plain
    short = encode_texts(towers, TEXTS)
    towers.is_plain = False  # the forward pass of open_clip, with all 77 positions
    assert short == pytest.approx(encode_texts(towers, TEXTS), abs=1e-6)


def test_an_unknown_architecture_gets_the_nearest_name():
    with pytest.raises(InputError, match="no model 'ViT-B-3'; did you mean 'ViT-B-32'"):
        check_architecture("ViT-B-3", open_clip.list_models())


def test_a_state_dictionary_is_read_without_the_prefix_of_data_parallel_models(
    tmp_path,
):
    torch.save(
        {"state_dict": {"module.a": torch.ones(2), "b": torch.zeros(1)}},
        tmp_path / "state.pt",
    )
    state = load_state(tmp_path / "state.pt")
    assert {name: value.tolist() for name, value in state.items()} == {
        "a": [1.0, 1.0],
        "b": [0.0],
    }


def test_a_file_that_holds_no_tensors_is_an_input_error(tmp_path):
    (tmp_path / "bad.pt").write_bytes(b"not a checkpoint")
    with pytest.raises(InputError, match="not a file of tensors alone"):
        load_state(tmp_path / "bad.pt")
