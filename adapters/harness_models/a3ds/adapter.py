"""The ``a3ds`` adapter: a speaker and a listener, as captioner, scorer of references
and listener of the game.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch

from harness.contracts import (
    Decoding,
    Example,
    Generation,
    PathParam,
    TaskView,
    TokenScores,
)
from harness.errors import HarnessError, InputError, did_you_mean
from harness_models.a3ds.losses import shift_right
from harness_models.a3ds.model import Listener, Speaker
from harness_models.a3ds.rsa import rsa_strategy
from harness_models.a3ds.vocabulary import END, MAX_LENGTH, PAD, START
from harness_models.shared.decoding.decode import decode, forced_scores
from harness_models.shared.decoding.left_to_right import Prefix
from harness_models.shared.decoding.types import DecodingBatch, Step
from harness_models.shared.inputs.scenes import target_of
from harness_tasks.a3ds import image_features, pixels

SHIPPED = Path(__file__).parent / "checkpoints"
"""Folder of the shipped checkpoints."""
STAGES = ("baseline", "short", "rp", "sp")
"""Names of the shipped checkpoints."""
_ROWS = 256
"""Number of games per batch."""
Agent = TypeVar("Agent", Speaker, Listener)


class A3DS:
    """Speaker and listener on scenes named in ``Example.meta`` (``target_id``,
    ``distractor_id`` or ``distractor_ids``).

    The speaker reads the target and the first distractor (without one, the target
    twice). Strategies: all of :mod:`harness_models.shared.decoding.decode`, and ``rsa``
    (:mod:`harness_models.a3ds.adapter`).

    Parameters
    ----------
    checkpoint
        A shipped checkpoint (``baseline``; ``short``, trained on short captions;
        ``rp``, ``sp``) or the file of a speaker.
    listener
        The listener of a shipped stage (``rp``, ``sp``) or a file. Default: that of
        ``sp`` for the checkpoint ``sp``, else that of ``rp``.
    features, pictures
        Image features as :func:`harness_tasks.a3ds.pixels.features` takes them. They
        must be those of the agents' training.
    vocabulary
        JSON file of word to id, for checkpoints with other words than the published 47.
    listener_encoder
        The authors' file of the listener's image encoder, where ``listener`` is their
        message encoder.

    References
    ----------
    Tsvilodub and Franke 2023 (A3DS); Lazaridou, Potapenko and Tieleman 2020.
    """

    likelihood = "exact"

    prepare_only_checks = True
    stop = (END,)
    max_length = MAX_LENGTH - 1
    keep_stop = False

    def __init__(
        self,
        *,
        checkpoint: PathParam = "baseline",
        listener: str | None = None,
        features: PathParam
        | Mapping[str, PathParam | Mapping[str, Any]] = "efficientnet-lite0",
        pictures: str | None = None,
        vocabulary: PathParam | None = None,
        listener_encoder: str | None = None,
    ) -> None:
        self._speaker_path = _checkpoint(checkpoint, "speaker")
        default = checkpoint if checkpoint in ("rp", "sp") else "rp"
        self._listener_path = _checkpoint(listener or default, "listener")
        self._encoder = listener_encoder
        self._vocabulary = vocabulary
        self._source = (features, pictures)

    @cached_property
    def speaker(self) -> Speaker:
        """The speaker.

        Raises :class:`InputError` if it does not fit the image features.
        """
        return self._check_features(
            Speaker.load(self._speaker_path, self._vocabulary), self._speaker_path
        )

    @cached_property
    def listener(self) -> Listener:
        """The listener.

        Raises :class:`InputError` if it does not fit the image features.
        """
        return self._check_features(
            Listener.load(self._listener_path, self._encoder), self._listener_path
        )

    @property
    def images(self) -> image_features.ImageFeatures:
        """Source of the image features; its ``name`` contains the pictures and the
        network.
        """
        return pixels.features(*self._source)

    def _check_features(self, agent: Agent, path: Path) -> Agent:
        """Return the agent; raise :class:`InputError` if it was trained on other image
        features.
        """
        width = agent.sizes.features
        source = self.images
        trained_on = agent.meta.get("features")
        if width != source.width or trained_on not in (None, source.name):
            images = f"the image features are '{source.name}' of width {source.width}"
            raise InputError(
                f"trained on {trained_on or 'features'} of width {width}; {images}",
                str(path),
            )
        return agent

    def fingerprint(self) -> str:
        """Return a name that depends on the speaker, the listener and the image
        features, and ends with the name of the features.
        """
        speaker = _digest(self._speaker_path)
        listener = _digest(self._listener_path)
        return f"a3ds:{speaker}:{listener}:{self.images.name}"

    def listener_fingerprint(self) -> str:
        """Return a name that depends on the listener and the image features only."""
        return f"a3ds:{_digest(self._listener_path)}:{self.images.name}"

    def describe(self) -> dict[str, Any]:
        """Return the image features, the stage of the training and the sizes,
        for the provenance of a run.
        """
        speaker = self.speaker
        return {
            "features": self.images.name,
            "stage": speaker.meta.get("stage"),
            "sizes": speaker.sizes._asdict(),
        }

    def prepare(self, task: TaskView) -> None:
        """Raise :class:`InputError` for an example that names no target, or a
        checkpoint that does not fit the features.
        """
        for example in task.examples:
            _game(example)
        self.speaker.eval()  # loads the checkpoint

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterator[Generation]:
        """Yield captions of the target of each example."""
        step = self.speaker.step()
        for start in range(0, len(examples), _ROWS):
            chunk = examples[start : start + _ROWS]
            features = self._features(chunk)
            batch = DecodingBatch(
                state=step.start(features[:, :2]),
                seeds=seeds[start : start + _ROWS],
                stop=self.stop,
                max_length=self.max_length,
                start=torch.full((len(chunk),), START),
                ids=[example.id for example in chunk],
            )

            strategies = {"rsa": rsa_strategy(self.speaker, features)}
            yield from decode(step, decoding, batch, strategies).generations(
                self.speaker.vocabulary.decode
            )

    def score_references(
        self, examples: Sequence[Example]
    ) -> Iterator[list[TokenScores]]:
        """Yield log-probability and rank of every token of every reference, END
        included; unknown words are scored as UNK.
        """
        words = self.speaker.vocabulary
        for start in range(0, len(examples), _ROWS):
            chunk = examples[start : start + _ROWS]
            for example, features in zip(chunk, self._features(chunk)):
                ids = [words.encode(text) for text in example.references]
                tokens = _pad_tokens(ids)

                # All captions of a game in one pass, each with the game's own images.
                images = features[None, :2].expand(len(tokens), -1, -1)
                with torch.inference_mode():
                    logits = self.speaker(images, tokens[:, :-1])

                yield [
                    self._score_tokens(row, caption, words.words)
                    for row, caption in zip(logits, tokens)
                ]

    @staticmethod
    def _score_tokens(
        logits: torch.Tensor, tokens: torch.Tensor, words: tuple[str, ...]
    ) -> TokenScores:
        length = int((tokens == END).nonzero()[0, 0])
        log_probs, ranks = forced_scores(logits[:length], tokens[1 : length + 1])
        return TokenScores(
            log_probs, ranks, tuple(words[int(i)] for i in tokens[1 : length + 1])
        )

    def listen(
        self, examples: Sequence[Example], captions: Sequence[str]
    ) -> np.ndarray:
        """Return the index (B,) of the image that the listener picks: 0 the target,
        from 1 the distractors; the first of equals.

        Raises :class:`HarnessError` if there is not one caption per example.
        """
        return np.array(
            [
                int(scores.argmax())
                for scores in self.listener_scores(examples, captions)
            ],
            dtype=np.int64,
        )

    def listener_scores(
        self, examples: Sequence[Example], captions: Sequence[str]
    ) -> Iterator[np.ndarray]:
        """Yield the listener's scores (K,) of the target and the distractors for each
        caption: logits of its choice.
        """
        if len(examples) != len(captions):
            raise HarnessError(
                f"listen: {len(captions)} captions for {len(examples)} examples"
            )

        words = self.listener.vocabulary
        for start in range(0, len(examples), _ROWS):
            chunk = examples[start : start + _ROWS]
            ids = [
                words.encode(text, MAX_LENGTH)[1:]
                for text in captions[start : start + _ROWS]
            ]

            features = self._features(chunk)
            with torch.inference_mode():
                messages = _pad_tokens(ids, MAX_LENGTH - 1)
                scores = self.listener(features, messages).numpy()

            # Games of a batch may have different numbers of distractors; the rest is
            # padding.
            for row, example in zip(scores, chunk):
                yield row[: max(2, 1 + len(_game(example)[1]))]

    @property
    def model(self) -> Speaker:
        """The agent that is trained."""
        return self.speaker

    @property
    def step(self) -> Step:
        """Decoder step with the present weights of the speaker; its first state is
        image features (R, 2, D).
        """
        step = self.speaker.step()
        return lambda tokens, state: step(
            tokens, step.start(state) if isinstance(state, torch.Tensor) else state
        )

    def inputs(self, examples: Sequence[Example]) -> list[torch.Tensor]:
        """Return image features (2, D) of the target and the first distractor of each
        example.
        """
        return list(self._features(examples)[:, :2])

    def prefix(
        self, inputs: Sequence[torch.Tensor], examples: Sequence[Example]
    ) -> Prefix:
        """Return the image features as the state before START."""
        return Prefix(torch.stack(list(inputs)), torch.full((len(inputs),), START))

    def forced_logits(
        self, prefix: Prefix, owner: torch.Tensor, tokens: torch.Tensor
    ) -> torch.Tensor:
        """Return logits (R, T, V) that predict tokens (R, T) for the images ``owner``
        (R,) of the prefix.
        """
        return self.speaker(prefix.state[owner], shift_right(tokens))

    def to_text(self, ids: list[int]) -> str:
        """Return the words of ids, joined by spaces."""
        return self.speaker.vocabulary.decode(ids)

    def save_policy(self, folder: Path, recipe: Mapping[str, Any]) -> Path:
        """Save the speaker into a folder and return its path."""
        self.speaker.save(folder / "speaker.safetensors", rewarded=recipe)
        return folder / "speaker.safetensors"

    def _features(self, examples: Sequence[Example]) -> torch.Tensor:
        """Return image features (B, K, D) of targets and distractors.

        Games with fewer images repeat their target; the scores of repeated targets are
        not used.
        """
        games = [_game(example) for example in examples]
        width = max(
            2, max((1 + len(distractors) for _, distractors in games), default=2)
        )
        scenes = [
            [target, *distractors, *[target] * (width - 1 - len(distractors))]
            for target, distractors in games
        ]
        flat = self.images.features([scene for row in scenes for scene in row])
        return torch.from_numpy(flat.reshape(len(games), width, -1).astype(np.float32))


def _game(example: Example) -> tuple[int, list[int]]:
    """Return the target and the distractors of an example; raise :class:`InputError` if
    its meta names no target.
    """
    distractors = example.meta.get("distractor_ids", example.meta.get("distractor_id"))
    if distractors is None:
        return target_of(example), []
    if not isinstance(distractors, (list, tuple)):
        distractors = [distractors]
    return target_of(example), list(distractors)


def _pad_tokens(rows: Sequence[Sequence[int]], width: int = 0) -> torch.Tensor:
    """Return token ids (R, T) padded with PAD, at least ``width`` wide."""
    width = max(width, *(len(row) for row in rows)) if rows else width
    padded = [[*row, *[PAD] * (width - len(row))] for row in rows]
    return torch.tensor(padded, dtype=torch.long).reshape(len(rows), width)


def _checkpoint(name: str, agent: str) -> Path:
    """Return the path of a shipped checkpoint or of a file;
    raise :class:`InputError` if there is none.
    """
    if name in STAGES:
        return SHIPPED / f"{name}.{agent}.safetensors"
    path = Path(name)
    path = path / f"{agent}.safetensors" if path.is_dir() else path
    if not path.is_file():
        raise InputError(
            f"no such checkpoint{did_you_mean(name, STAGES)}; "
            f"shipped are {', '.join(STAGES)}",
            name,
        )
    return path


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]
