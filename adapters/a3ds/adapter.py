"""The ``a3ds`` adapter: a trained speaker with its listener, as captioner, scorer of references and listener of the game."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from harness.adapters.a3ds.model import Listener, Speaker
from harness.adapters.a3ds.rsa import rsa_strategy
from harness.adapters.a3ds.vocabulary import END, MAX_LENGTH, PAD, START
from harness.adapters.shared.decoding.decode import DecodingBatch, decode, forced_scores
from harness.contracts import Decoding, Example, Generation, PathParam, TaskView, TokenScores
from harness.errors import HarnessError, InputError, did_you_mean
from harness.tasks.a3ds import pixels

SHIPPED = Path(__file__).parent / "checkpoints"
STAGES = ("baseline", "short", "rp", "sp")
_ROWS = 256


class A3DS:
    """Speaker and listener on scenes named in ``Example.meta`` (``target_id``, ``distractor_id`` or ``distractor_ids``).

    ``checkpoint``: a shipped one (``baseline``; ``short``, taught short captions; ``rp``, ``sp``) or a speaker's file.
    ``listener``: a shipped stage's (``rp``, ``sp``) or a file; None: the speaker's own, ``rp``'s for those that never played.
    ``features`` and ``pictures`` say where image features come from (:func:`harness.tasks.a3ds.pixels.features`) and must be
    those that the agents were trained on.

    The speaker sees the target and the first distractor (without one, the target twice). Strategies: all of
    :mod:`harness.adapters.shared.decoding.decode`, and ``rsa`` (:mod:`harness.adapters.a3ds.rsa`).
    """

    likelihood = "exact"

    def __init__(
        self,
        *,
        checkpoint: PathParam = "baseline",
        listener: str | None = None,
        features: PathParam | Mapping[str, PathParam | Mapping[str, Any]] = "efficientnet-lite0",
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
        self._loaded: dict[str, Any] = {}

    # ------------------------------------------------------------------ parts, loaded when first needed
    @property
    def speaker(self) -> Speaker:
        """The speaker; raises :class:`InputError` where it does not fit the image features."""
        if "speaker" not in self._loaded:
            agent = Speaker.load(self._speaker_path, self._vocabulary)
            self._fits(agent, self._speaker_path)
            self._loaded["speaker"] = agent
        return self._loaded["speaker"]

    @property
    def listener(self) -> Listener:
        if "listener" not in self._loaded:
            agent = Listener.load(self._listener_path, self._encoder)
            self._fits(agent, self._listener_path)
            self._loaded["listener"] = agent
        return self._loaded["listener"]

    @property
    def images(self) -> pixels.ImageFeatures:
        """Where image features come from; its ``name`` says which pictures and which network."""
        return pixels.features(*self._source)

    def _fits(self, agent: Speaker | Listener, path: Path) -> None:
        width, source = agent.sizes.features, self.images
        trained_on = agent.meta.get("features")
        if width != source.width or trained_on not in (None, source.name):
            raise InputError(
                f"trained on {trained_on or 'features'} of width {width}; the features given are '{source.name}' of width "
                f"{source.width}",
                str(path),
            )

    def fingerprint(self) -> str:
        """Of speaker, listener and image features: ends with the names of network and picture source, for the manifest to tell."""
        return f"a3ds:{_digest(self._speaker_path)}:{_digest(self._listener_path)}:{self.images.name}"

    def listener_fingerprint(self) -> str:
        """Of the listener and the image features alone: what a listener's choice depends on."""
        return f"a3ds:{_digest(self._listener_path)}:{self.images.name}"

    def describe(self) -> dict[str, Any]:
        """For a manifest: pictures, features, training stage and sizes."""
        speaker = self.speaker
        return {"features": self.images.name, "stage": speaker.meta.get("stage"), "sizes": speaker.sizes._asdict()}

    # ------------------------------------------------------------------ capabilities
    def prepare(self, task: TaskView) -> None:
        """Raise :class:`InputError` for an example without a game, or a checkpoint that does not fit, before anything runs."""
        for example in task.examples:
            _game(example)
        self.speaker.eval()  # loads it, or says why not

    def generate(self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]) -> Iterator[Generation]:
        """Captions of the targets."""
        step = self.speaker.step()
        for start in range(0, len(examples), _ROWS):
            part = examples[start : start + _ROWS]
            features = self._features(part)
            batch = DecodingBatch(
                state=step.start(features[:, :2]),
                seeds=seeds[start : start + _ROWS],
                stop=(END,),
                max_length=MAX_LENGTH - 1,
                start=torch.full((len(part),), START),
                ids=[example.id for example in part],
            )
            own = {"rsa": rsa_strategy(self.speaker, features)}
            yield from decode(step, decoding, batch, own).generations(self.speaker.vocabulary.decode)

    def score_references(self, examples: Sequence[Example]) -> Iterator[list[TokenScores]]:
        """Log-probability and rank of every token of every reference, END counted; unknown words are scored as UNK."""
        words = self.speaker.vocabulary
        for start in range(0, len(examples), _ROWS):
            part = examples[start : start + _ROWS]
            for example, features in zip(part, self._features(part)):
                tokens = _padded([words.encode(text) for text in example.references])
                with torch.inference_mode():
                    logits = self.speaker(features[None, :2].expand(len(tokens), -1, -1), tokens[:, :-1])
                yield [self._scored(row, ids, words.words) for row, ids in zip(logits, tokens)]

    @staticmethod
    def _scored(logits: torch.Tensor, tokens: torch.Tensor, words: tuple[str, ...]) -> TokenScores:
        length = int((tokens == END).nonzero()[0, 0])
        log_probs, ranks = forced_scores(logits[:length], tokens[1 : length + 1])
        return TokenScores(log_probs, ranks, tuple(words[int(i)] for i in tokens[1 : length + 1]))

    def listen(self, examples: Sequence[Example], captions: Sequence[str]) -> np.ndarray:
        """(B,) index of the image that the listener picks: 0 the target, 1.. the distractors; ties go to the first."""
        choices: list[int] = []
        for scores in self.listener_scores(examples, captions):
            choices.append(int(scores.argmax()))
        return np.array(choices, dtype=np.int64)

    def listener_scores(self, examples: Sequence[Example], captions: Sequence[str]) -> Iterator[np.ndarray]:
        """For each caption the listener's scores of the target and the distractors: logits of its choice."""
        if len(examples) != len(captions):
            raise HarnessError(f"listen: {len(captions)} captions for {len(examples)} examples")
        words = self.listener.vocabulary
        for start in range(0, len(examples), _ROWS):
            part = examples[start : start + _ROWS]
            ids = [words.encode(text, MAX_LENGTH)[1:] for text in captions[start : start + _ROWS]]
            features = self._features(part)
            with torch.inference_mode():
                scores = self.listener(features, _padded(ids, MAX_LENGTH - 1)).numpy()
            for row, example in zip(scores, part):
                yield row[: max(2, 1 + len(_game(example)[1]))]

    def _features(self, examples: Sequence[Example]) -> torch.Tensor:
        """(B, K, D): target and distractors; a game with fewer of them repeats its target, which no score looks at."""
        games = [_game(example) for example in examples]
        width = max(2, max((1 + len(distractors) for _, distractors in games), default=2))
        scenes = [[target, *distractors, *[target] * (width - 1 - len(distractors))] for target, distractors in games]
        flat = self.images.features([scene for row in scenes for scene in row])
        return torch.from_numpy(flat.reshape(len(games), width, -1).astype(np.float32))


def _game(example: Example) -> tuple[int, list[int]]:
    """(target, distractors) of an example; raises :class:`InputError` where its meta names none."""
    meta = example.meta
    distractors = meta.get("distractor_ids", meta.get("distractor_id"))
    if meta.get("target_id") is None:
        found = ", ".join(sorted(meta)) or "nothing"
        raise InputError(
            f"no 'target_id' in its meta (found {found}); use the reader 'a3ds'", f"example '{example.id}'"
        )
    if distractors is None:
        return meta["target_id"], []
    return meta["target_id"], list(distractors) if isinstance(distractors, (list, tuple)) else [distractors]


def _padded(rows: Sequence[Sequence[int]], width: int = 0) -> torch.Tensor:
    width = max(width, *(len(row) for row in rows)) if rows else width
    return torch.tensor([[*row, *[PAD] * (width - len(row))] for row in rows], dtype=torch.long).reshape(
        len(rows), width
    )


def _checkpoint(name: str, agent: str) -> Path:
    if name in STAGES:
        return SHIPPED / f"{name}.{agent}.safetensors"
    path = Path(name)
    if not path.is_file():
        raise InputError(f"no such checkpoint{did_you_mean(name, STAGES)}; shipped are {', '.join(STAGES)}", name)
    return path


def _digest(path: Path) -> str:
    if not path.is_file():
        raise InputError("no such checkpoint", str(path))
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]
