"""A judge model of transformers in a local folder that sees images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.encoders.pictures import decode_picture
from harness.errors import InputError
from harness_metrics.embeddings.local_model import load_transformer
from harness_metrics.judges.local import LoadedJudge, LocalModel
from harness_metrics.judges.replies import Conversation, Message

if TYPE_CHECKING:
    from PIL import Image as PilImage


class LocalImageModel(LocalModel):
    """A model that reads images and text (LLaVA, Qwen-VL and others), decoded greedily.

    Its processor has a chat template, which places the image of a message in front of
    the text. Parameters and errors are those of
    :class:`~harness_metrics.judges.local.LocalModel`.
    """

    def _load(self, dtype: Any) -> LoadedJudge:
        transformers: Any = import_module("transformers")
        kind = transformers.AutoConfig.from_pretrained(
            str(self.path), local_files_only=True
        ).model_type
        auto = transformers.models.auto.modeling_auto
        if kind not in auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES:
            raise InputError(
                f"image: true, and models of type '{kind}' read no images",
                str(self.path),
                parameter="image",
            )
        tokenizer, model = load_transformer(
            self.path,
            "AutoModelForImageTextToText",
            "judge",
            "a local judge",
            dtype=dtype,
        )
        processor = transformers.AutoProcessor.from_pretrained(
            str(self.path), local_files_only=True
        )
        if not getattr(processor, "chat_template", None):
            raise InputError(
                "the judge has no chat template of images: it has to tell where an "
                "image stands",
                str(self.path),
            )
        # the processor's own tokenizer pads the prompts
        return LoadedJudge(getattr(processor, "tokenizer", tokenizer), model, processor)

    def _text(self, conversation: Conversation) -> str:
        return self._loaded_model.processor.apply_chat_template(
            [
                {"role": message["role"], "content": _parts(message)}
                for message in conversation
            ],
            tokenize=False,
            add_generation_prompt=True,
        )

    def _inputs(
        self, texts: list[str], conversations: Sequence[Conversation]
    ) -> Mapping[str, Any]:
        judge = self._loaded_model
        images = [
            [_open(message["image"]) for message in conversation if "image" in message]
            for conversation in conversations
        ]
        start = judge.tokenizer.bos_token
        return dict(
            judge.processor(
                text=texts,
                images=images if any(images) else None,
                padding=True,
                return_tensors="pt",
                # a template may have written the start token
                add_special_tokens=not (start and texts[0].startswith(start)),
            )
        )


def _parts(message: Message) -> list[dict[str, str]]:
    """Return the content of a message, its image first."""
    text = {"type": "text", "text": message["content"]}
    return [{"type": "image"}, text] if "image" in message else [text]


def _open(file: str) -> PilImage.Image:
    """Return an image in RGB; raise :class:`InputError` for a file that does not
    decode.
    """
    with Path(file).open("rb") as content:
        return decode_picture(content, file)
