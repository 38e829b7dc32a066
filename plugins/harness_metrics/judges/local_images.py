"""A judge model of transformers in a local folder that sees images."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.encoders.pictures import decode_picture
from harness.errors import InputError
from harness_metrics.embeddings.local_model import load_transformer
from harness_metrics.judges.local import LoadedJudge, LocalModel
from harness_metrics.judges.replies import Conversation, Message, Reply

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

    def complete(
        self, conversations: Sequence[Conversation], store: Callable[[int, Reply], None]
    ) -> None:
        """Answer all conversations but those whose texts hold the model's own token of
        an image, which are rejected: the model would look for an image there.
        """
        token = getattr(self._loaded_model.processor, "image_token", None)
        accepted: list[int] = []
        for index, conversation in enumerate(conversations):
            if token and any(token in message["content"] for message in conversation):
                store(index, Reply("", "rejected"))
            else:
                accepted.append(index)
        super().complete(
            [conversations[index] for index in accepted],
            lambda position, reply: store(accepted[position], reply),
        )

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
        try:
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
        except (ValueError, TypeError, IndexError) as error:
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            files = [m["image"] for talk in conversations for m in talk if "image" in m]
            raise InputError(
                f"the processor of the judge rejects {', '.join(files)}: {reason}",
                str(self.path),
            ) from error


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
