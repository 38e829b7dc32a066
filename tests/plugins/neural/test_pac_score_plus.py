"""PAC-S++ on a tiny CLIP with random low-rank factors, beside both towers written out
with the factors as layers of their own.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from harness.contracts import CaptionSet
from harness.errors import HarnessError, InputError
from harness.run.features import FeatureCache
from harness_metrics.neural.clipscore import PREFIX, PacScore
from harness_metrics.neural.pac_score_plus import PacScorePlus, RefPacScorePlus

torch = pytest.importorskip("torch")

from harness.registry.torchvision_guard import guard_torchvision  # noqa: E402

guard_torchvision()
open_clip = pytest.importorskip("open_clip")
Image = pytest.importorskip("PIL.Image")
functional = torch.nn.functional

NAME = "tiny-low-rank-quickgelu"
WIDTH, HEADS, RANK, PATCH = 32, 2, 4, 8
CONFIG = {
    "embed_dim": 16,
    "quick_gelu": True,
    "vision_cfg": {
        "image_size": 16,
        "layers": 2,
        "width": WIDTH,
        "head_width": WIDTH // HEADS,
        "patch_size": PATCH,
    },
    "text_cfg": {
        "context_length": 77,
        "vocab_size": 49408,
        "width": WIDTH,
        "heads": HEADS,
        "layers": 2,
    },
}


@pytest.fixture(scope="module")
def architecture(tmp_path_factory):
    """Name of a tiny architecture of open_clip."""
    configurations = open_clip.factory._MODEL_CONFIGS
    path = tmp_path_factory.mktemp("architecture") / f"{NAME}.json"
    path.write_text(json.dumps(CONFIG))
    open_clip.add_model_config(path)
    yield NAME
    del configurations[NAME]
    del open_clip.factory._MODEL_CONFIG_PATHS[-1]
    open_clip.factory._rescan_model_configs()


def with_factors(state, generator):
    """Return the tensors of a CLIP with factors where PAC-S++ has them."""
    out = dict(state)
    for name, tensor in state.items():
        if name.endswith("in_proj_weight"):
            shapes = {f"{name}_lora_A": (RANK, WIDTH), f"{name}_lora_B": (96, RANK)}
        elif name.endswith(("out_proj.weight", "c_fc.weight", "c_proj.weight")):
            layer = name.removesuffix(".weight")
            rows, columns = tensor.shape
            shapes = {
                f"{layer}.lora_A": (RANK, columns),
                f"{layer}.lora_B": (rows, RANK),
            }
        elif name == "visual.conv1.weight":
            shapes = {
                "visual.conv1.lora_A": (RANK * PATCH, 3 * PATCH),
                "visual.conv1.lora_B": (WIDTH * PATCH, RANK * PATCH),
            }
        else:
            continue
        for key, shape in shapes.items():
            out[key] = 0.2 * torch.randn(*shape, generator=generator)
    return out


@pytest.fixture(scope="module")
def weights(architecture, tmp_path_factory):
    """A file as the authors publish them, and its tensors."""
    torch.manual_seed(3)
    model = open_clip.create_model(architecture, pretrained=None)
    state = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    state = with_factors(state, torch.Generator().manual_seed(5))
    path = tmp_path_factory.mktemp("weights") / "PAC++_tiny.pth"
    torch.save({"state_dict": state}, path)
    return path, state


def layer(x, state, name, joint="."):
    """Return x W' + b, and the branch x A' B' / r beside it."""
    bias = state[f"{name}.bias" if joint == "." else name.replace("weight", "bias")]
    weight = state[f"{name}.weight" if joint == "." else name]
    factors = [state[f"{name}{joint}lora_{side}"] for side in "AB"]
    return x @ weight.T + bias + x @ factors[0].T @ factors[1].T / RANK


def normal(x, state, name):
    return functional.layer_norm(
        x, x.shape[-1:], state[f"{name}.weight"], state[f"{name}.bias"]
    )


def transformer(x, state, prefix, mask):
    """Return the tokens (B, T, d) after all blocks of a tower."""
    for k in range(2):
        block = f"{prefix}resblocks.{k}"
        joined = layer(
            normal(x, state, f"{block}.ln_1"),
            state,
            f"{block}.attn.in_proj_weight",
            "_",
        )
        query, key, value = (
            part.unflatten(-1, (HEADS, -1)).transpose(1, 2)
            for part in joined.chunk(3, -1)
        )
        logits = query @ key.transpose(-1, -2) / (WIDTH // HEADS) ** 0.5 + mask
        mixed = (logits.softmax(-1) @ value).transpose(1, 2).flatten(-2)
        x = x + layer(mixed, state, f"{block}.attn.out_proj")
        # the layers of the perceptron are stored with their product
        hidden = functional.linear(
            normal(x, state, f"{block}.ln_2"),
            state[f"{block}.mlp.c_fc.weight"],
            state[f"{block}.mlp.c_fc.bias"],
        )
        hidden = hidden * torch.sigmoid(1.702 * hidden)
        x = x + functional.linear(
            hidden,
            state[f"{block}.mlp.c_proj.weight"],
            state[f"{block}.mlp.c_proj.bias"],
        )
    return x


def image_vector(pixels, state):
    """Return the unit vector of an image (1, 3, 16, 16)."""
    product = state["visual.conv1.lora_B"] @ state["visual.conv1.lora_A"] / RANK
    kernel = state["visual.conv1.weight"] + product.view(WIDTH, 3, PATCH, PATCH)
    patches = functional.conv2d(pixels, kernel, stride=PATCH).flatten(2).transpose(1, 2)
    first = state["visual.class_embedding"].expand(1, 1, -1)
    x = torch.cat([first, patches], 1) + state["visual.positional_embedding"]
    x = transformer(
        normal(x, state, "visual.ln_pre"), state, "visual.transformer.", 0.0
    )
    vector = normal(x[:, 0], state, "visual.ln_post") @ state["visual.proj"]
    return functional.normalize(vector, dim=-1)[0]


def text_vector(text, state):
    """Return the unit vector of a text."""
    ids = open_clip.get_tokenizer(NAME)([text])
    x = state["token_embedding.weight"][ids] + state["positional_embedding"]
    mask = torch.full((77, 77), float("-inf")).triu(1)
    x = normal(transformer(x, state, "transformer.", mask), state, "ln_final")
    vector = x[0, ids[0].argmax()] @ state["text_projection"]
    return functional.normalize(vector, dim=-1)


SETS = [
    CaptionSet("x", ("a red square", "a dog"), ("a red box", "a cat"), media="0.png"),
    CaptionSet("y", ("a dog", "two boats"), ("a lake", "boats"), media="1.png"),
]


@pytest.fixture
def pictures(tmp_path):
    for k in range(2):
        pixels = np.random.default_rng(k).integers(0, 255, (16, 16, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"{k}.png")
    return tmp_path


def test_the_formula_with_the_factors_written_out(weights, architecture, pictures):
    path, state = weights
    features = FeatureCache()
    batch = features.batch(SETS)
    settings: Any = {
        "weights": str(path),
        "model": architecture,
        "images": str(pictures),
        "device": "cpu",
    }
    metric = PacScorePlus(**settings)
    with_references = RefPacScorePlus(**settings)
    towers: Any = metric.clip.towers
    preprocess = towers.transform

    expected = np.empty((2, 2))
    expected_ref = np.empty((2, 2))
    for row, item in enumerate(SETS):
        with Image.open(pictures / f"{row}.png") as image:
            image_unit = image_vector(preprocess(image.convert("RGB"))[None], state)
        others = [text_vector(PREFIX + text, state) for text in item.references]
        for column, text in enumerate(item.candidates):
            vector = text_vector(PREFIX + text, state)
            score = 2.0 * max(float(vector @ image_unit), 0.0)
            best = max(max(float(vector @ other) for other in others), 0.0)
            expected[row, column] = score
            both = score + best
            expected_ref[row, column] = 2 * score * best / both if both else 0.0

    assert metric.caption_scores(batch, features) == pytest.approx(expected, abs=1e-5)
    assert expected.max() > 0.05, "an informative example"
    found = with_references.scores(batch, features, None)
    assert found == pytest.approx(expected_ref.mean(axis=1), abs=1e-5)
    name, factor, clip, model, digest, kind = metric.signature().split("|")
    assert (name, factor, clip, model) == ("pac-score-plus", "w:2.0", "clip", NAME)
    assert (len(digest), kind) == (12, "lora")
    assert metric.spec.bounds == (0.0, 2.0)


def test_a_folder_is_refused(pictures, tmp_path):
    (tmp_path / "open_clip_config.json").write_text("{}")
    with pytest.raises(InputError, match=r"a folder; expected a file of weights"):
        _ = PacScorePlus(weights=str(tmp_path)).clip.towers


def test_weights_of_the_other_metric_are_refused(
    weights, architecture, pictures, tmp_path
):
    path, state = weights
    batch_of = FeatureCache()
    batch = batch_of.batch(SETS)
    images = str(pictures)
    with pytest.raises(InputError, match="not the weights of tiny-low-rank") as raised:
        PacScore(weights=str(path), model=architecture, images=images).scores(
            batch, batch_of, None
        )
    assert "lora" in str(raised.value)

    plain = tmp_path / "plain.pth"
    torch.save({k: v for k, v in state.items() if "lora" not in k}, plain)
    with pytest.raises(InputError, match="no low-rank factors"):
        PacScorePlus(weights=str(plain), model=architecture, images=images).scores(
            batch, batch_of, None
        )


@pytest.mark.parametrize("metric", [PacScorePlus, RefPacScorePlus])
def test_weights_are_required(metric):
    with pytest.raises(
        HarnessError, match=rf"metric '{metric.label}' needs weights.*PAC\+\+_clip"
    ):
        metric()
    assert metric(weights="none").clip.model == "ViT-B-32-quickgelu"
