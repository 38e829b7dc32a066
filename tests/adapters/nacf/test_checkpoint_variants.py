"""Checkpoints of the NACF family with other modalities, without categories, in half
precision, under ARB2's names.
"""

from __future__ import annotations

import pytest
import torch
from safetensors.torch import save_file

from harness.errors import InputError
from harness_models.nacf.model import ArbStep, Nacf

CATEGORY = torch.tensor([[0], [2], [1]])
TOKENS = torch.tensor([[2, 7, 8, 9, 3, 0], [2, 10, 3, 0, 0, 0], [2, 11, 12, 13, 14, 3]])


def random(*shape, seed=0, scale=0.3):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)) * scale


def save(tensors, path):
    """Write tensors as safetensors or as torch does, by the suffix,
    and return the path.
    """
    (save_file if path.suffix == ".safetensors" else torch.save)(tensors, path)
    return path


def nacf(
    width=16, modalities="mi", categories=3, predicts=True, disentangled=True, layers=2
):
    base = "decoder.bert." if disentangled else "decoder."
    shapes = {
        f"{base}embedding.word_embeddings.weight": (30, width),
        f"{base}embedding.position_embeddings.weight": (9, width),
        f"{base}embedding.LayerNorm.weight": (width,),
        f"{base}embedding.LayerNorm.bias": (width,),
        "tgt_word_prj.weight": (30, width),
    }
    if categories:
        shapes[f"{base}embedding.category_embeddings.weight"] = (categories, width)
    for i, letter in enumerate(modalities):
        part = f"encoder.Encoder_{letter.upper()}."
        shapes |= {
            part + "0.weight": (width, 5 + "mi".index(letter)),
            part + "0.bias": (width,),
        }
        for n in (1, 2):
            shapes |= {
                f"{part}1.w{n}.weight": (width, width),
                f"{part}1.w{n}.bias": (width,),
            }
        for name in ("weight", "bias", "running_mean", "running_var"):
            shapes[f"joint_representation_learner.bn{i}.{name}"] = (width,)
    for i in range(layers):
        part = f"{base}layer.{i}."
        for block in ("attention", "attend_to_enc_output"):
            for name in ("self.query", "self.key", "self.value", "output.dense"):
                shapes |= {
                    f"{part}{block}.{name}.weight": (width, width),
                    f"{part}{block}.{name}.bias": (width,),
                }
        shapes |= {
            f"{part}intermediate.dense.weight": (20, width),
            f"{part}intermediate.dense.bias": (20,),
        }
        shapes |= {
            f"{part}output.dense.weight": (width, 20),
            f"{part}output.dense.bias": (width,),
        }
    if predicts:
        part = "auxiliary_task_predictor.layers.0.net."
        shapes |= {part + "0.weight": (width, width), part + "0.bias": (width,)}
        shapes |= {part + "3.weight": (9, width), part + "3.bias": (9,)}
    tensors = {
        name: random(*shape, seed=i)
        for i, (name, shape) in enumerate(sorted(shapes.items()))
    }
    for name in tensors:
        if name.endswith("running_var"):
            tensors[name] = tensors[name].abs() + 0.5
    for i in range(len(modalities)):
        tensors[f"joint_representation_learner.bn{i}.num_batches_tracked"] = (
            torch.tensor(7)
        )
    return tensors


def features(model, rows=3):
    return [
        random(rows, 4, width, seed=i, scale=1.0)
        for i, width in enumerate(model.sizes.features.values())
    ]


@pytest.mark.parametrize("modalities", ["mi", "im", "i", "m"])
@pytest.mark.parametrize("categories", [0, 3])
@pytest.mark.parametrize("heads", [2, 4])
def test_nacf_with_other_modalities_and_without_categories(
    modalities, categories, heads, tmp_path
):
    settings = {"modality": modalities, "num_attention_heads": heads}
    path = tmp_path / "best.pth.tar"
    torch.save(
        {
            "epoch": 3,
            "state_dict": nacf(modalities=modalities, categories=categories),
            "settings": settings,
        },
        path,
    )
    model = Nacf.from_checkpoint(path)
    assert "".join(model.sizes.features) == modalities
    category = CATEGORY if categories else None
    with torch.inference_mode():
        logits = model(features(model), TOKENS, category)
        encoded = model.encode(features(model), category)
        first = model.encode(
            features(model)[:1] + [x[:, :0] for x in features(model)[1:]], category
        )
    assert logits.shape == (3, 6, 30)
    # the first modality comes first
    assert torch.allclose(encoded.memory[:, :4], first.memory, atol=1e-6)
    half = {
        k: v.half() if v.is_floating_point() else v
        for k, v in nacf(modalities=modalities).items()
    }
    apart = save(half, tmp_path / "half.safetensors")
    assert (
        Nacf.from_checkpoint(apart, settings).tgt_word_prj.weight.dtype == torch.float32
    )


def test_arb2_is_arb_under_other_names(tmp_path):
    one = nacf(predicts=False, disentangled=False)
    two = nacf(predicts=False)
    two |= {
        k.replace("decoder.", "decoder.bert.") if k.startswith("decoder.") else k: v
        for k, v in one.items()
    }
    models = [
        Nacf.from_checkpoint(save(tensors, tmp_path / name), {"num_attention_heads": 4})
        for tensors, name in ((one, "a.pt"), (two, "b.safetensors"))
    ]
    assert [m.sizes.method for m in models] == ["ARB", "ARB2"]
    with torch.inference_mode():
        logits = [m(features(m), TOKENS, CATEGORY) for m in models]
        assert logits[0].shape == (3, 5, 30)
        assert torch.equal(*logits)
        step = ArbStep(models[1])
        state = step.start(models[1].encode(features(models[1]), CATEGORY))
        for t in range(3):
            logit, state = step(TOKENS[:, t], state)
            real = TOKENS[:, t] != 0
            torch.testing.assert_close(
                logit[real], logits[1][real, t], atol=1e-5, rtol=1e-5
            )


def test_files_of_other_architectures_are_refused(tmp_path):
    torch.save(
        {
            "vis_embed.0.weight": torch.ones(2, 2),
            "bert.encoder.layer.0.x": torch.ones(2),
        },
        tmp_path / "v.pt",
    )
    with pytest.raises(InputError, match="it looks like VLP"):
        Nacf.from_checkpoint(tmp_path / "v.pt")
