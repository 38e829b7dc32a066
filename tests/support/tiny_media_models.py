"""Tiny random models of transformers that read videos or sound,
saved in the format of published models.
"""

from __future__ import annotations

import json
from typing import Any

import torch
import transformers

from tests.support.tiny_models import (
    DECODER,
    IDS,
    PARTS,
    SMALL,
    WORDS,
    _save,
    clip_images,
    loud,
    qwen2_vl,
    tokenizer,
)

MEDIA_PARTS = PARTS.replace(
    "{% else %}",
    "{% elif part['type'] == 'video' %}VIDEO {% elif part['type'] == 'audio' %}AUDIO "
    "{% else %}",
)
"""Template of models with several media."""


def llava_next_video(folder):
    config = transformers.LlavaNextVideoConfig(
        vision_config=transformers.CLIPVisionConfig(
            **SMALL, image_size=16, patch_size=4, projection_dim=32
        ),
        text_config=transformers.LlamaConfig(
            **SMALL, vocab_size=len(WORDS), max_position_embeddings=256, **IDS
        ),
        image_token_index=4,
        video_token_index=17,
        image_grid_pinpoints=[[16, 16], [32, 16]],
        spatial_pool_stride=2,
        vision_feature_layer=-1,
        vision_feature_select_strategy="default",
    )
    processor = transformers.LlavaNextVideoProcessor(
        video_processor=transformers.LlavaNextVideoVideoProcessor(
            size={"shortest_edge": 16}, crop_size={"height": 16, "width": 16}
        ),
        image_processor=transformers.LlavaNextImageProcessor(
            size={"shortest_edge": 16},
            crop_size={"height": 16, "width": 16},
            image_grid_pinpoints=[[16, 16], [32, 16]],
        ),
        tokenizer=tokenizer(None, "<image>", "<video>"),
        patch_size=4,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        image_token="<image>",
        video_token="<video>",
        chat_template=MEDIA_PARTS.replace("IMAGE", "<image>").replace(
            "VIDEO", "<video>"
        ),
    )
    _save(
        folder,
        loud(transformers.LlavaNextVideoForConditionalGeneration(config)),
        processor,
    )


def qwen2_vl_video(folder):
    qwen2_vl(folder)
    file = folder / "chat_template.jinja"
    assert file.is_file()
    settings = folder / "processor_config.json"
    content = json.loads(settings.read_text())
    content["video_processor"]["size"] = {"shortest_edge": 256, "longest_edge": 4096}
    settings.write_text(json.dumps(content))
    file.write_text(
        MEDIA_PARTS.replace("IMAGE", "<see> <|image_pad|> </see>").replace(
            "VIDEO", "<see> <|video_pad|> </see>"
        )
    )


def ved_video(folder):
    encoder = transformers.TimesformerConfig(
        image_size=16, patch_size=8, num_frames=4, **SMALL
    )
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
        encoder, decoder
    )
    both.decoder_start_token_id = 1
    both.pad_token_id = 0
    both.eos_token_id = 2
    images = transformers.VideoMAEImageProcessor(
        size={"shortest_edge": 16}, crop_size={"height": 16, "width": 16}
    )
    _save(
        folder,
        loud(transformers.VisionEncoderDecoderModel(both), 10),
        images,
        tokenizer(),
    )


def git_video(folder):
    config = transformers.GitConfig(
        vocab_size=len(WORDS),
        vision_config={**SMALL, "image_size": 16, "patch_size": 8},
        max_position_embeddings=64,
        num_image_with_embedding=3,
        **SMALL,
        **IDS,
    )
    model = loud(transformers.GitForCausalLM(config), 10)
    with torch.no_grad():
        for weight in model.git.img_temporal_embedding:
            weight.normal_()
    _save(folder, model, transformers.GitProcessor(clip_images(), tokenizer()))


def whisper(folder):
    config = transformers.WhisperConfig(
        vocab_size=len(WORDS),
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        num_mel_bins=16,
        max_source_positions=50,
        max_target_positions=64,
        decoder_start_token_id=1,
        suppress_tokens=[],
        begin_suppress_tokens=[],
        **IDS,
    )
    extractor = transformers.WhisperFeatureExtractor(feature_size=16, chunk_length=1)
    words = tokenizer()
    model = loud(transformers.WhisperForConditionalGeneration(config), 10)
    model.generation_config.update(
        decoder_start_token_id=1,
        suppress_tokens=None,
        begin_suppress_tokens=None,
        is_multilingual=False,
    )
    _save(folder, model, extractor, words)
    # the fast tokenizer of Whisper needs a vocabulary of bytes: the words are loaded as
    # a plain tokenizer
    (folder / "processor_config.json").write_text(
        json.dumps({"processor_class": "WhisperProcessor"})
    )


def qwen2_audio(folder):
    config = transformers.Qwen2AudioConfig(
        audio_config={
            "d_model": 32,
            "encoder_layers": 2,
            "encoder_attention_heads": 4,
            "encoder_ffn_dim": 64,
            "num_mel_bins": 16,
            "max_source_positions": 50,
        },
        text_config={
            **SMALL,
            "model_type": "qwen2",
            "num_key_value_heads": 2,
            "vocab_size": len(WORDS),
            "max_position_embeddings": 256,
            **IDS,
        },
        audio_token_index=17,
    )
    words = tokenizer(None, "<|AUDIO|>", words=[*WORDS[:17], "<|AUDIO|>", *WORDS[18:]])
    processor = transformers.Qwen2AudioProcessor(
        transformers.WhisperFeatureExtractor(feature_size=16, chunk_length=1),
        words,
        audio_token="<|AUDIO|>",
        audio_bos_token="<see>",
        audio_eos_token="</see>",
        chat_template=MEDIA_PARTS.replace("IMAGE", "").replace(
            "AUDIO", "<see> <|AUDIO|> </see>"
        ),
    )
    _save(
        folder, loud(transformers.Qwen2AudioForConditionalGeneration(config)), processor
    )


VIDEO = {
    f.__name__: f for f in (llava_next_video, qwen2_vl_video, ved_video, git_video)
}
AUDIO = {f.__name__: f for f in (whisper, qwen2_audio)}
