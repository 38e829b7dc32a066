"""Folders of tiny models with a tower for texts and one for images, random weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import Image

WORDS = ["<pad>", "<unk>", "a", "dog", "cat", "runs", "on", "grass", "<s>", "</s>"]
LENGTH = 12
TEXTS = ["a dog runs on grass", "cat", "a dog on a cat on a dog on a cat on a dog"]
"""Texts of several lengths, the last beyond :data:`LENGTH`."""
SIZE = 16


def tokenizer(folder: Path, **options: object) -> None:
    """Write a tokenizer of whole words."""
    import tokenizers
    import transformers

    words = tokenizers.models.WordLevel({w: i for i, w in enumerate(WORDS)}, "<unk>")
    base = tokenizers.Tokenizer(words)
    base.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    base.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 8), ("</s>", 9)]
    )
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=base,
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
        model_max_length=LENGTH,
        **options,
    ).save_pretrained(folder)


def write(folder: Path, kind: str = "clip") -> Path:
    """Write a model of the kind ``clip`` or ``siglip``, and return its folder."""
    import torch
    import transformers

    torch.manual_seed(0)
    sizes = {
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
    }
    text = {
        **sizes,
        "vocab_size": len(WORDS),
        "max_position_embeddings": LENGTH,
        "pad_token_id": 0,
        "bos_token_id": 8,
        "eos_token_id": 9,
    }
    vision = {**sizes, "image_size": SIZE, "patch_size": 8}
    if kind == "clip":
        config = transformers.CLIPConfig(
            text_config=text, vision_config=vision, projection_dim=8
        )
        model = transformers.CLIPModel(config)
        processor = transformers.CLIPImageProcessor(
            size={"shortest_edge": SIZE}, crop_size={"height": SIZE, "width": SIZE}
        )
    else:
        config = transformers.SiglipConfig(text_config=text, vision_config=vision)
        model = transformers.SiglipModel(config)
        processor = transformers.SiglipImageProcessor(
            size={"height": SIZE, "width": SIZE}
        )
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    tokenizer(folder)
    return folder


def open_clip_folder(folder: Path) -> Path:
    """Write a folder of open_clip: configuration and weights of a tiny CLIP."""
    import open_clip
    import torch
    from safetensors.torch import save_file

    torch.manual_seed(0)
    model = {
        "embed_dim": 8,
        "quick_gelu": True,
        "vision_cfg": {
            "image_size": SIZE,
            "layers": 1,
            "width": 64,
            "patch_size": 8,
        },
        "text_cfg": {
            "context_length": 77,
            "vocab_size": 49408,
            "width": 16,
            "heads": 2,
            "layers": 1,
        },
    }
    folder.mkdir(parents=True, exist_ok=True)
    content = {"model_cfg": model, "preprocess_cfg": {}}
    (folder / "open_clip_config.json").write_text(json.dumps(content))
    network = open_clip.CLIP(**model)
    save_file(
        {k: v.clone().contiguous() for k, v in network.state_dict().items()},
        folder / "open_clip_model.safetensors",
    )
    return folder


def pictures(folder: Path) -> list[str]:
    """Write images of several sizes and formats, and return their names."""
    import numpy as np
    from PIL import Image

    rng = np.random.default_rng(0)
    names: list[str] = []
    for k, suffix in enumerate(["jpg", "png", "webp"] * 3):
        pixels = rng.integers(0, 255, (20 + k, 31, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{k}.{suffix}")
        names.append(str(folder / f"{k}.{suffix}"))
    return names


def open_rgb(name: str) -> Image.Image:
    """Return the image of a file in RGB."""
    from PIL import Image

    with Image.open(name) as image:
        return image.convert("RGB")
