"""Tiny random models of transformers with tokenizers and processors, saved in the
format of published models.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import transformers

WORDS = [
    "<pad>",
    "<s>",
    "</s>",
    "<unk>",
    "<image>",
    "a",
    "dog",
    "cat",
    "runs",
    "sits",
    "on",
    "the",
    "mat",
    "red",
    "ball",
]
WORDS += ["says", ":", "<video>", "<see>", "</see>"]
CHAT = (
    "{% for m in messages %}{{ m['role'] }} says : "
    "{{ m['content'] }} {% endfor %}{% if add_generation_prompt %}says :{% endif %}"
)
PARTS = (
    "{% for m in messages %}{{ m['role'] }} says : "
    "{% for part in m['content'] %}{% if part['type'] == 'image' %}IMAGE "
    "{% else %}{{ part['text'] }} {% endif %}{% endfor %}{% endfor %}{% if "
    "add_generation_prompt %}says :{% endif %}"
)
"""Template of image-text models: the content of a message is a list of parts."""
IDS: Any = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
START: Any = {"decoder_start_token_id": 0}
DECODER: Any = {"is_decoder": True, "add_cross_attention": True}
SMALL: Any = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
}


def tokenizer(chat=None, *special, words=WORDS):
    """Return a tokenizer of words separated by blanks."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    base = Tokenizer(
        models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<unk>")
    )
    base.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    result = transformers.PreTrainedTokenizerFast(
        tokenizer_object=base,
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
        additional_special_tokens=list(special),
    )
    result.chat_template = chat
    return result


def loud(model, scale=6.0):
    """Return the model with random weights that are large enough for every token to
    change the logits.
    """
    torch.manual_seed(1)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.ndim > 1 and "norm" not in name.lower():
                weight.normal_(std=0.02 * scale)
    return model.eval()


def pictures(folder, count=5):
    """Write random images 0.png, 1.png, ... and broken.png."""
    from PIL import Image

    for i in range(count):
        pixels = np.random.default_rng(i).integers(0, 255, (20, 24, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{i}.png")
    (folder / "broken.png").write_bytes(b"no image")


def _save(folder, model, *others):
    for part in (model, *others):
        part.save_pretrained(folder)


def clip_images(size=16):
    return transformers.CLIPImageProcessor(
        size={"shortest_edge": size}, crop_size={"height": size, "width": size}
    )


def gpt2(folder):
    config = transformers.GPT2Config(
        vocab_size=len(WORDS), n_positions=64, n_embd=32, n_layer=2, n_head=4, **IDS
    )
    _save(folder, loud(transformers.GPT2LMHeadModel(config)), tokenizer(CHAT))


def t5(folder):
    config = transformers.T5Config(
        vocab_size=len(WORDS),
        d_model=32,
        d_kv=8,
        d_ff=64,
        num_layers=2,
        num_heads=4,
        **IDS,
        **START,
    )
    _save(
        folder, loud(transformers.T5ForConditionalGeneration(config), 15), tokenizer()
    )


def ved(folder):
    vit = transformers.ViTConfig(image_size=16, patch_size=8, **SMALL)
    decoder = transformers.GPT2Config(
        vocab_size=len(WORDS),
        n_positions=64,
        n_embd=32,
        n_layer=2,
        n_head=4,
        **IDS,
        **DECODER,
    )
    both: Any = transformers.VisionEncoderDecoderConfig.from_encoder_decoder_configs(
        vit, decoder
    )
    both.decoder_start_token_id = 1
    both.pad_token_id = 0
    both.eos_token_id = 2
    images = transformers.ViTImageProcessor(size={"height": 16, "width": 16})
    _save(
        folder,
        loud(transformers.VisionEncoderDecoderModel(both), 10),
        images,
        tokenizer(),
    )


def blip(folder):
    config = transformers.BlipConfig(
        text_config={
            **SMALL,
            "vocab_size": len(WORDS),
            "sep_token_id": 2,
            "encoder_hidden_size": 32,
            "is_decoder": True,
            "max_position_embeddings": 64,
            **IDS,
        },
        vision_config={**SMALL, "image_size": 16, "patch_size": 8},
    )
    images = transformers.BlipImageProcessor(size={"height": 16, "width": 16})
    model = loud(transformers.BlipForConditionalGeneration(config), 10)
    _save(folder, model, transformers.BlipProcessor(images, tokenizer()))


def git(folder):
    config = transformers.GitConfig(
        vocab_size=len(WORDS),
        vision_config={**SMALL, "image_size": 16, "patch_size": 8},
        max_position_embeddings=64,
        **SMALL,
        **IDS,
    )
    _save(
        folder,
        loud(transformers.GitForCausalLM(config), 10),
        transformers.GitProcessor(clip_images(), tokenizer()),
    )


def llava(folder, chat=True):
    config = transformers.LlavaConfig(
        vision_config=transformers.CLIPVisionConfig(
            **SMALL, image_size=16, patch_size=8, projection_dim=32
        ),
        text_config=transformers.LlamaConfig(
            **SMALL, vocab_size=len(WORDS), max_position_embeddings=128, **IDS
        ),
        image_token_index=4,
        vision_feature_layer=-1,
        vision_feature_select_strategy="default",
    )
    processor = transformers.LlavaProcessor(
        clip_images(),
        tokenizer(None, "<image>"),
        patch_size=8,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        image_token="<image>",
        chat_template=PARTS.replace("IMAGE", "<image>") if chat else None,
    )
    _save(folder, loud(transformers.LlavaForConditionalGeneration(config)), processor)


def qwen2_vl(folder):
    config = transformers.Qwen2VLConfig(
        text_config={
            **SMALL,
            "num_key_value_heads": 2,
            "vocab_size": len(WORDS),
            "max_position_embeddings": 128,
            **IDS,
            "rope_parameters": {
                "rope_type": "default",
                "rope_theta": 10000.0,
                "mrope_section": [2, 1, 1],
            },
        },
        vision_config={
            "depth": 2,
            "embed_dim": 32,
            "hidden_size": 32,
            "num_heads": 4,
            "mlp_ratio": 2,
            "patch_size": 4,
            "spatial_merge_size": 2,
            "temporal_patch_size": 2,
            "in_channels": 3,
        },
        image_token_id=4,
        video_token_id=17,
        vision_start_token_id=18,
        vision_end_token_id=19,
    )
    special = ("<|image_pad|>", "<|video_pad|>")
    words = tokenizer(
        None,
        *special,
        words=[*WORDS[:4], special[0], *WORDS[5:17], special[1], *WORDS[18:]],
    )
    size: Any = {"patch_size": 4, "temporal_patch_size": 2, "merge_size": 2}
    limits: Any = {"size": {"shortest_edge": 64, "longest_edge": 1024}}
    processor = transformers.Qwen2VLProcessor(
        transformers.Qwen2VLImageProcessor(**size, **limits),
        words,
        transformers.Qwen2VLVideoProcessor(**size),
        chat_template=PARTS.replace("IMAGE", "<see> <|image_pad|> </see>"),
    )
    _save(folder, loud(transformers.Qwen2VLForConditionalGeneration(config)), processor)


def blip2(folder, text="opt"):
    if text == "opt":
        language = transformers.OPTConfig(
            vocab_size=len(WORDS),
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            ffn_dim=64,
            max_position_embeddings=64,
            word_embed_proj_dim=32,
            **IDS,
        )
    else:
        language = transformers.T5Config(
            vocab_size=len(WORDS),
            d_model=32,
            d_kv=8,
            d_ff=64,
            num_layers=2,
            num_heads=4,
            **IDS,
            **START,
        )
    config = transformers.Blip2Config(
        vision_config={**SMALL, "image_size": 16, "patch_size": 8},
        qformer_config={**SMALL, "encoder_hidden_size": 32, "vocab_size": len(WORDS)},
        text_config=language.to_dict(),
        num_query_tokens=3,
        image_token_index=4,
    )
    processor = transformers.Blip2Processor(
        transformers.BlipImageProcessor(size={"height": 16, "width": 16}),
        tokenizer(None, "<image>"),
        num_query_tokens=3,
    )
    model = loud(transformers.Blip2ForConditionalGeneration(config), 10)
    with torch.no_grad():
        model.query_tokens.normal_()
    _save(folder, model, processor)


def blip2_t5(folder):
    blip2(folder, "t5")


BUILDERS = {
    f.__name__: f for f in (gpt2, t5, ved, blip, git, llava, qwen2_vl, blip2, blip2_t5)
}
