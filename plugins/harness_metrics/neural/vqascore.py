"""Metric ``vqascore``: the probability that a model which sees the image answers yes
when it is asked for the caption (Lin et al. 2024).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import exp
from typing import Any

import numpy as np

from harness.contracts import (
    Batch,
    CaptionSet,
    Example,
    Features,
    MeanMetric,
    MetricSpec,
    PathParam,
)
from harness.contracts.parameters import check_arguments
from harness.encoders.devices import Devices
from harness.errors import HarnessError, InputError
from harness.files.image_names import image_folder
from harness.files.user_path import user_path
from harness.registry import resolve
from harness_metrics.embeddings.local_model import LoadsModel
from harness_metrics.judges.prompts import prompt_key

QUESTION = 'Does this figure show "{}"? Please answer yes or no.'
"""Question of the source, with the caption in place of the braces."""
ANSWER = "Yes"
PLACE = "{}"
_QuestionKey = tuple[str, str]
"""Media name and caption."""


class VqaScore(LoadsModel, MeanMetric):
    """Probability of the answer "Yes" to the question if the image shows the caption,
    mean over candidates, in [0, 1]; higher is better.

    The probability is that of all tokens of the answer, without the end token.

    Parameters
    ----------
    model : str
        Model that reads images and has a chat template, as for the adapter
        ``transformers``: local folder, or ``owner/name`` on the Hugging Face hub.
    images : str, optional
        Folder in which the media names of the examples are looked up; the image of an
        example without one is the file whose name, stem, or number at the end of the
        stem is the example's id. The default takes media names as paths.
    question : str
        Question with ``{}`` in place of the caption.
    answer : str
        Answer whose probability is the score.
    system : str, optional
        System message of the chat.
    revision : str, optional
        Branch, tag or commit of a model on the hub.
    device, device_map, dtype, batch_size
        As for the adapter ``transformers``.

    Raises
    ------
    HarnessError
        For a question without one place of the caption, and an empty answer; at first
        use, for a model without chat template or end token, or which reads no images.

    References
    ----------
    Lin et al. 2024, *Evaluating Text-to-Visual Generation with Image-to-Text
    Generation*, section 3, equation 1.
    """

    @check_arguments
    def __init__(
        self,
        *,
        model: str,
        images: PathParam | None = None,
        question: str = QUESTION,
        answer: str = ANSWER,
        system: str | None = None,
        revision: str | None = None,
        device: Devices = "auto",
        device_map: Any = None,
        dtype: str = "auto",
        batch_size: int | str = "auto",
    ) -> None:
        if question.count(PLACE) != 1:
            raise HarnessError(
                f"vqascore: question has {question.count(PLACE)} places for the "
                f"caption; expected a text with one {PLACE}, such as {QUESTION}",
                parameter="question",
                value=question,
            )
        if not answer.strip():
            raise HarnessError(
                f"vqascore: answer is empty; expected a text such as {ANSWER}",
                parameter="answer",
                value=answer,
            )
        self.model = model
        self.question = question
        self.answer = answer.strip()
        self.images = user_path(images) if images else None
        self.settings: dict[str, Any] = {
            "system": system,
            "revision": revision,
            "device": device,
            "device_map": device_map,
            "dtype": dtype,
            "batch_size": batch_size,
        }
        self.spec = MetricSpec(
            "vqascore", True, needs=frozenset({"images"}), bounds=(0.0, 1.0)
        )

    @cached_property
    def _loaded_model(self) -> Any:
        """The adapter of the model."""
        images = None if self.images is None else str(self.images)
        parameters = {
            "model": self.model,
            "images": images,
            "prompt": "{question}",
            "chat": True,
            "medium": "image",
            **self.settings,
        }
        adapter = resolve("adapters", {"transformers": parameters})
        if not adapter.stop:
            raise HarnessError(
                f"vqascore: the configuration of {self.model} names no end token "
                "(eos_token_id)",
                parameter="model",
                value=self.model,
            )
        return adapter

    def signature(self) -> str:
        """Return ``vqascore|``, the hash of the question, the answer and the
        fingerprint of the model.
        """
        settings = f"{prompt_key(self.question)}|answer:{self.answer}"
        return f"vqascore|{settings}|{self._loaded_model.fingerprint()}"

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the mean over candidates, shape (B,).

        Each distinct pair of image and caption is one question of the run.

        Raises :class:`InputError` for an example without an image that can be read.
        """
        known = features.memo((self.signature(), "answers"), dict[_QuestionKey, float])
        asked: dict[_QuestionKey, Example] = {}
        media = [self._media(item) for item in batch.sets]
        for item, name in zip(batch.sets, media):
            for caption in item.candidates:
                if (name, caption) not in known:
                    question = self._question(item.id, name, caption)
                    asked.setdefault((name, caption), question)

        known.update(zip(asked, self.probabilities(list(asked.values()))))
        of_candidates = [
            [known[name, caption] for caption in item.candidates]
            for item, name in zip(batch.sets, media)
        ]
        return np.array(of_candidates, dtype=np.float64).mean(axis=1)

    def _media(self, item: CaptionSet) -> str:
        """Return the name of the image of an example; raise :class:`InputError`
        without one.
        """
        if item.media:
            return item.media
        if self.images is None:
            raise InputError(
                f"metric 'vqascore' needs images, and the example '{item.id}' has "
                "none; name the folder of the images (-m vqascore:images=FOLDER)"
            )
        # absolute: the adapter looks up names in the folder
        return str(image_folder(self.images).find(item.id)[0].absolute())

    def _question(self, example_id: str, media: str, caption: str) -> Example:
        """Return an example whose reference is the answer."""
        text = self.question.replace(PLACE, caption)
        return Example(example_id, (self.answer,), media=media, meta={"question": text})

    def probabilities(self, questions: Sequence[Example]) -> np.ndarray:
        """Return the probability of the answer to each question, shape (Q,).

        Parameters
        ----------
        questions : sequence of Example
            Image, question (in the metadata) and answer (as the reference).
        """
        # Prompts of one length share a forward pass, since nothing is padded.
        adapter = self._loaded_model
        lengths = [adapter.prompt_length(question) for question in questions]
        order = sorted(range(len(questions)), key=lambda k: (lengths[k], k))

        probabilities = np.empty(len(questions))
        answered = adapter.score_references([questions[k] for k in order])
        for k, (scores,) in zip(order, answered):
            # the last token is the end of the answer
            log_probs = np.asarray(scores.log_probs, dtype=np.float64)[:-1]
            probabilities[k] = exp(float(log_probs.sum()))
        return probabilities
