"""Supported checkpoint variants: other sizes, older names, half precision, missing tied
tensors, tables of other lengths.
"""

from __future__ import annotations

import pytest
import torch

from harness.errors import InputError
from harness.registry.torchvision_guard import guard_torchvision
from harness_models.clipcap.model import ClipCap
from harness_models.vlp.model import Vlp
from harness_models.vlp.sizes import BertSizes, VlpSizes

guard_torchvision()
transformers = pytest.importorskip("transformers")
CLIP = 12
PREFIX = 3
CLIP_LENGTH = 5
SPECIAL = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4}
VLP = {"num_attention_heads": 3, "special_ids": SPECIAL}


def random(*shape, seed=0, scale=0.3):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)) * scale


def save(tensors, path):
    if path.suffix == ".safetensors":
        from safetensors.torch import save_file

        save_file(
            {key: value.clone().contiguous() for key, value in tensors.items()}, path
        )
    else:
        torch.save(tensors, path)
    return path


def mapper(kind, width, seed):
    """Return the tensors of a mapper and its function, written by the definition."""
    names = {
        "linear": {"weight": (PREFIX * width, CLIP), "bias": (PREFIX * width,)},
        "mlp": {
            "model.0.weight": (40, CLIP),
            "model.0.bias": (40,),
            "model.2.weight": (PREFIX * width, 40),
            "model.2.bias": (PREFIX * width,),
        },
        "transformer": {
            "linear.weight": (CLIP_LENGTH * width, CLIP),
            "linear.bias": (CLIP_LENGTH * width,),
            "prefix_const": (PREFIX, width),
            **{
                f"transformer.layers.{i}.{name}": shape
                for i in range(3)
                for name, shape in {
                    "norm1.weight": (width,),
                    "norm1.bias": (width,),
                    "norm2.weight": (width,),
                    "norm2.bias": (width,),
                    "attn.to_queries.weight": (width, width),
                    "attn.to_keys_values.weight": (2 * width, width),
                    "attn.project.weight": (width, width),
                    "attn.project.bias": (width,),
                    "mlp.fc1.weight": (2 * width, width),
                    "mlp.fc1.bias": (2 * width,),
                    "mlp.fc2.weight": (width, 2 * width),
                    "mlp.fc2.bias": (width,),
                }.items()
            },
        },
    }[kind]
    t = {
        name: random(*shape, seed=seed + i)
        for i, (name, shape) in enumerate(names.items())
    }

    def attend(x, base, heads=8):
        rows, length, _ = x.shape
        cut = lambda y: y.reshape(rows, length, heads, -1).transpose(1, 2)  # noqa: E731
        keys, values = (x @ t[base + "attn.to_keys_values.weight"].T).chunk(2, dim=-1)
        scores = (
            cut(x @ t[base + "attn.to_queries.weight"].T)
            @ cut(keys).transpose(2, 3)
            * (width // heads) ** -0.5
        )
        mixed = (scores.softmax(-1) @ cut(values)).transpose(1, 2).reshape(x.shape)
        return mixed @ t[base + "attn.project.weight"].T + t[base + "attn.project.bias"]

    def apply(vectors):
        if kind == "linear":
            return (vectors @ t["weight"].T + t["bias"]).reshape(-1, PREFIX, width)
        if kind == "mlp":
            hidden = torch.tanh(vectors @ t["model.0.weight"].T + t["model.0.bias"])
            return (hidden @ t["model.2.weight"].T + t["model.2.bias"]).reshape(
                -1, PREFIX, width
            )
        x = (vectors @ t["linear.weight"].T + t["linear.bias"]).reshape(
            -1, CLIP_LENGTH, width
        )
        x = torch.cat([x, t["prefix_const"].expand(len(x), -1, -1)], dim=1)
        for i in range(3):
            base = f"transformer.layers.{i}."

            def norm(y, name, base=base):
                weight = t[base + name + ".weight"]
                bias = t[base + name + ".bias"]
                return torch.layer_norm(y, (width,), weight, bias)

            x = x + attend(norm(x, "norm1"), base)
            inner = torch.relu(
                norm(x, "norm2") @ t[base + "mlp.fc1.weight"].T
                + t[base + "mlp.fc1.bias"]
            )
            x = x + inner @ t[base + "mlp.fc2.weight"].T + t[base + "mlp.fc2.bias"]
        return x[:, CLIP_LENGTH:]

    return {f"clip_project.{name}": value for name, value in t.items()}, apply


def clipcap(kind, width=64, layers=3, positions=29, inner=None):
    config = transformers.GPT2Config(
        vocab_size=71,
        n_positions=positions,
        n_embd=width,
        n_layer=layers,
        n_head=width // 16,
        n_inner=inner,
    )

    torch.manual_seed(3)
    gpt = transformers.GPT2LMHeadModel(config).eval()
    with torch.no_grad():
        for weight in gpt.parameters():
            weight.add_(torch.randn_like(weight) * 0.1)

    tensors, apply = mapper(kind, width, 5)
    tensors |= {
        f"gpt.{key}": value.detach().clone() for key, value in gpt.state_dict().items()
    }

    vectors = random(4, CLIP, seed=9, scale=1.0)
    tokens = torch.randint(0, 71, (4, 6))
    embedded = torch.cat([apply(vectors), gpt.transformer.wte(tokens)], dim=1)
    with torch.no_grad():
        expected = gpt(inputs_embeds=embedded).logits
    return tensors, {"n_head": width // 16}, vectors, tokens, expected


@pytest.mark.parametrize("kind", ["mlp", "linear", "transformer"])
@pytest.mark.parametrize("suffix", [".pt", ".safetensors"])
@pytest.mark.parametrize(
    "sizes",
    [{}, {"width": 48, "layers": 1, "positions": 9, "inner": 56}],
    ids=["a", "b"],
)
def test_clipcap_of_any_size_equals_transformers(kind, suffix, sizes, tmp_path):
    tensors, config, vectors, tokens, expected = clipcap(kind, **sizes)
    for layer in range(sizes.get("layers", 3)):
        tensors[f"gpt.transformer.h.{layer}.attn.bias"] = torch.ones(
            1, 1, 29, 29, dtype=torch.uint8
        )
        tensors[f"gpt.transformer.h.{layer}.attn.masked_bias"] = torch.tensor(-1e4)
    path = save(tensors, tmp_path / f"weights{suffix}")
    with torch.inference_mode():
        logits = ClipCap.from_checkpoint(path, config)(tokens, vectors)
    torch.testing.assert_close(
        logits, expected, atol=1e-5 * float(expected.abs().max()), rtol=0
    )


@pytest.mark.parametrize(
    "missing", ["gpt.lm_head.weight", "gpt.transformer.wte.weight"]
)
def test_clipcap_with_one_of_the_tied_tensors(missing, tmp_path):
    tensors, config, vectors, tokens, expected = clipcap("mlp")
    del tensors[missing]
    model = ClipCap.from_checkpoint(save(tensors, tmp_path / "m.safetensors"), config)
    assert model.gpt.lm_head.weight is model.gpt.transformer.wte.weight
    with torch.inference_mode():
        torch.testing.assert_close(
            model(tokens, vectors), expected, atol=1e-4, rtol=1e-5
        )


@pytest.mark.parametrize("suffix", [".pt", ".safetensors"])
def test_clipcap_in_half_precision(suffix, tmp_path):
    tensors, config, vectors, tokens, _ = clipcap("transformer")
    half = {key: value.half() for key, value in tensors.items()}
    rounded = {key: value.float() for key, value in half.items()}
    with torch.inference_mode():
        logits = ClipCap.from_checkpoint(
            save(half, tmp_path / f"half{suffix}"), config
        )(tokens, vectors)
        expected = ClipCap.from_checkpoint(
            save(rounded, tmp_path / f"whole{suffix}"), config
        )(tokens, vectors)
    assert logits.dtype == torch.float32
    assert torch.equal(logits, expected)


def test_clipcap_settings_that_do_not_fit(tmp_path):
    tensors, config, *_ = clipcap("transformer")
    path = save(tensors, tmp_path / "m.pt")
    with pytest.raises(
        InputError, match="mapper_heads must divide the width 64; found 7"
    ):
        ClipCap.from_checkpoint(path, {**config, "mapper_heads": 7})
    with pytest.raises(
        InputError,
        match="GPT-2's activation is gelu_new; the configuration says 'relu'",
    ):
        ClipCap.from_checkpoint(
            path, {**config, "gpt2_config": {"activation_function": "relu"}}
        )
    del tensors["gpt.transformer.wte.weight"], tensors["gpt.lm_head.weight"]
    with pytest.raises(InputError, match="no tensor 'gpt.transformer.wte.weight'"):
        ClipCap.from_checkpoint(save(tensors, tmp_path / "none.pt"), config)


def vlp(**changes):
    torch.manual_seed(0)
    bert = {
        "vocabulary": 40,
        "width": 24,
        "layers": 2,
        "heads": 3,
        "inner": 32,
        "positions": 20,
        "segments": 6,
    }
    sizes = VlpSizes(
        bert=BertSizes(**{**bert, **changes}),
        region=10,
        hidden=12,
        geometry=9,
        special_ids=SPECIAL,
    )

    model = Vlp(sizes).eval().requires_grad_(False)
    inputs = (
        torch.randint(5, 40, (3, 6)),
        random(3, 7, 10, scale=1.0),
        random(3, 7, 9, seed=1, scale=1.0),
    )

    tensors = {key: value.clone() for key, value in model.state_dict().items()}
    return model, inputs, tensors


def changed(tensors, name):
    """Return the same weights in another notation."""
    words = "bert.embeddings.word_embeddings.weight"
    head = "cls.predictions.decoder.weight"
    tensors = {**tensors, head: tensors[words].clone()}

    if name == "gamma and beta":
        names = {
            "LayerNorm.weight": "LayerNorm.gamma",
            "LayerNorm.bias": "LayerNorm.beta",
        }
        for new, old in names.items():
            tensors = {key.replace(new, old): value for key, value in tensors.items()}
    elif name == "no head":
        del tensors[head]
    elif name == "pooler and answers":
        tensors |= {
            "bert.pooler.dense.weight": random(24, 24),
            "bert.pooler.dense.bias": random(24),
        }
        tensors |= {
            "ans_classifier.0.weight": random(5, 24),
            "cls.seq_relationship.weight": random(2, 24),
        }
    elif name == "parallel":
        tensors = {f"module.{key}": value for key, value in tensors.items()}

    return tensors


@pytest.mark.parametrize("suffix", [".bin", ".pt", ".safetensors"])
@pytest.mark.parametrize(
    "name", ["plain", "gamma and beta", "no head", "pooler and answers", "parallel"]
)
def test_vlp_written_in_other_ways(name, suffix, tmp_path):
    model, inputs, tensors = vlp()
    model.cls.predictions.decoder.weight = model.bert.embeddings.word_embeddings.weight
    loaded = Vlp.from_checkpoint(
        save(changed(tensors, name), tmp_path / f"m{suffix}"), VLP
    )
    with torch.inference_mode():
        assert torch.equal(loaded(*inputs), model(*inputs))


def test_vlp_in_half_precision(tmp_path):
    _, inputs, tensors = vlp()
    half = {key: value.half() for key, value in tensors.items()}
    rounded = {key: value.float() for key, value in half.items()}
    with torch.inference_mode():
        logits = Vlp.from_checkpoint(save(half, tmp_path / "half.bin"), VLP)(*inputs)
        assert torch.equal(
            logits,
            Vlp.from_checkpoint(save(rounded, tmp_path / "whole.bin"), VLP)(*inputs),
        )
    assert logits.dtype == torch.float32


@pytest.mark.parametrize("positions", [15, 33, 50])
def test_vlp_position_tables_are_cut_or_repeated(positions, tmp_path):
    _, inputs, tensors = vlp()
    path = save(tensors, tmp_path / "m.bin")
    config = {**VLP, "bert_config": {"max_position_embeddings": positions}}
    model = Vlp.from_checkpoint(path, config)
    table = tensors["bert.embeddings.position_embeddings.weight"]
    whole = model.bert.embeddings.position_embeddings.weight
    assert len(whole) == model.sizes.bert.positions == positions
    assert all(torch.equal(whole[i], table[i % 20]) for i in range(positions))
    with torch.inference_mode():
        assert torch.equal(model(*inputs), Vlp.from_checkpoint(path, VLP)(*inputs))


def test_vlp_segment_tables(tmp_path):
    _, inputs, tensors = vlp()
    name = "bert.embeddings.token_type_embeddings.weight"
    two = {**tensors, name: tensors[name][:2]}
    six = {**tensors, name: tensors[name][[0, 1, 0, 0, 0, 1]]}
    with torch.inference_mode():
        grown = Vlp.from_checkpoint(save(two, tmp_path / "2.bin"), VLP)(*inputs)
        assert torch.equal(
            grown, Vlp.from_checkpoint(save(six, tmp_path / "6.bin"), VLP)(*inputs)
        )
        old = Vlp.from_checkpoint(tmp_path / "6.bin", {**VLP, "new_segment_ids": False})
        assert old.segments == (0, 1)
        # rows 4 and 5 are copies of rows 0 and 1
        assert torch.equal(grown, old(*inputs))
    with pytest.raises(
        InputError, match="the segment table has 3 rows; expected 6, or 2"
    ):
        Vlp.from_checkpoint(
            save({**tensors, name: tensors[name][:3]}, tmp_path / "3.bin"), VLP
        )


@pytest.mark.parametrize("family", [ClipCap, Vlp])
def test_files_that_are_no_checkpoints(family, tmp_path):
    (tmp_path / "cut.pt").write_bytes(b"PK\x03\x04 cut short")
    (tmp_path / "cut.safetensors").write_bytes(b"\xff\x00\x00")
    whole = save(
        {"gpt.transformer.wte.weight": torch.ones(40, 40)}, tmp_path / "w.pt"
    ).read_bytes()
    (tmp_path / "half.pt").write_bytes(whole[: len(whole) // 2])

    for name in ("cut.pt", "cut.safetensors", "half.pt", "gone.pt"):
        with pytest.raises(InputError, match=name):
            family.from_checkpoint(tmp_path / name)

    torch.save(
        {
            "vis_embed.0.weight": torch.ones(2, 2),
            "bert.encoder.layer.0.x": torch.ones(2),
        },
        tmp_path / "v.pt",
    )
    torch.save(
        {"tgt_word_prj.weight": torch.ones(2, 2), "decoder.bert.x": torch.ones(2)},
        tmp_path / "n.pt",
    )
    path, kind = (
        (tmp_path / "n.pt", "NACF or ARB2")
        if family is Vlp
        else (tmp_path / "v.pt", "VLP")
    )

    with pytest.raises(InputError, match=f"it looks like {kind}"):
        family.from_checkpoint(path)
