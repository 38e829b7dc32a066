"""Rational-speech-acts re-ranking: of several captions, select the one that a literal
listener understands best.

Frank and Goodman 2012; Andreas and Klein 2016. The literal listener inverts the
speaker by Bayes' rule with a flat prior: L(target | u) = S(u | target) / sum over
images of S(u | image), where S(u | image) is the speaker's probability of u for a
single image. The pragmatic speaker ranks proposals by log S(u) + alpha log L(target |
u), where S(u) is the probability of u in the game.

``decoding: {strategy: rsa, options: {alpha: 5, proposals: 20, propose: sample}}``.
``propose`` is ``sample`` (with temperature, top_k and top_p of the decoding) or
``beam``. With alpha 0 the most probable proposal wins. The result is the best
``candidates`` different proposals.

Shapes: ``B`` games, ``K`` images of a game, ``D`` image features, ``H`` hypotheses.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from harness.contracts import Decoding
from harness.errors import HarnessError, did_you_mean
from harness_models.a3ds.model import Speaker
from harness_models.a3ds.vocabulary import PAD, START
from harness_models.shared.decoding.decode import decode
from harness_models.shared.decoding.types import (
    Decoded,
    DecodingBatch,
    Hypothesis,
    Step,
    Strategy,
)

_OPTIONS = ("alpha", "proposals", "propose")


def rsa_strategy(speaker: Speaker, features: torch.Tensor) -> Strategy:
    """Return the strategy for a batch of games with image features (B, K, D),
    target first.
    """

    def search(step: Step, decoding: Decoding, batch: DecodingBatch) -> Decoded:
        alpha, inner = _settings(decoding)
        count = decoding.candidates or 1
        examples = []
        for game, hypotheses in zip(features, decode(step, inner, batch)):
            # Equal samples are one utterance; otherwise frequent ones would fill the
            # list of candidates.
            different = list({tuple(h.tokens.tolist()): h for h in hypotheses}.values())
            gain = alpha * literal_listener(speaker, game, different)[:, 0]
            ranked = _rank_captions(different, gain)
            examples.append(
                tuple(ranked[min(k, len(ranked) - 1)] for k in range(count))
            )
        return Decoded(tuple(examples), {"alpha": alpha, "proposals": inner.candidates})

    return search


def _settings(decoding: Decoding) -> tuple[float, Decoding]:
    """Return alpha and the decoding of the proposals;
    raise :class:`HarnessError` for invalid options.
    """
    options = dict(decoding.options)
    for name in options:
        if name not in _OPTIONS:
            raise HarnessError(
                f"decoding rsa: unknown option '{name}'{did_you_mean(name, _OPTIONS)}"
            )

    alpha = options.get("alpha", 5.0)
    count = options.get("proposals", 20)
    propose = options.get("propose", "sample")
    if (
        not isinstance(alpha, (int, float))
        or isinstance(alpha, bool)
        or not 0 <= alpha < float("inf")
    ):
        raise HarnessError(
            f"decoding rsa: alpha must be a number of at least 0, found {alpha!r}"
        )
    if not isinstance(count, int) or count < (decoding.candidates or 1):
        raise HarnessError(
            "decoding rsa: proposals must be at least the number of candidates, "
            f"found {count!r}"
        )
    if propose not in ("sample", "beam"):
        raise HarnessError(
            f"decoding rsa: propose must be sample or beam, found {propose!r}"
        )

    # The whole decoding but these settings goes to the search that proposes.
    beams = count if propose == "beam" else None
    return float(alpha), replace(
        decoding, strategy=propose, candidates=count, beams=beams, options={}
    )


def literal_listener(
    speaker: Speaker, images: torch.Tensor, hypotheses: list[Hypothesis]
) -> np.ndarray:
    """Return the log-probability (H, K) of each image given each caption,
    with a flat prior.

    Parameters
    ----------
    speaker
        Speaker that is inverted.
    images
        Image features (K, D).
    hypotheses
        H captions.
    """
    # Every caption is scored for every image alone: the speaker reads an image as
    # target and as distractor, so that it has nothing to contrast and describes the
    # image literally. Bayes' rule with a flat prior then is a softmax over the images.
    width = max(len(h.tokens) for h in hypotheses)
    tokens = torch.full((len(hypotheses), width), PAD)
    for row, hypothesis in enumerate(hypotheses):
        tokens[row, : len(hypothesis.tokens)] = torch.from_numpy(hypothesis.tokens)
    lengths = torch.tensor([len(h.tokens) for h in hypotheses])
    is_token = torch.arange(width) < lengths[:, None]

    inputs = torch.cat([torch.full((len(tokens), 1), START), tokens[:, :-1]], dim=1)
    # target and distractor alike
    single = (
        images[:, None, None]
        .expand(-1, len(tokens), 2, -1)
        .reshape(-1, 2, images.shape[-1])
    )

    with torch.inference_mode():
        logits = speaker(single, inputs.repeat(len(images), 1))
        log_probs = logits.double().log_softmax(-1)
    spoken = tokens.repeat(len(images), 1)[..., None]
    token_scores = log_probs.gather(-1, spoken)[..., 0]

    total = (
        (token_scores * is_token.repeat(len(images), 1))
        .sum(1)
        .reshape(len(images), len(tokens))
        .T
    )
    return (total - total.logsumexp(1, keepdim=True)).numpy()


def _rank_captions(hypotheses: list[Hypothesis], gain: np.ndarray) -> list[Hypothesis]:
    """Return the hypotheses by log-probability plus ``gain`` (H,), best first,
    with this sum as their score.
    """
    scores = [float(h.log_probs.sum() + g) for h, g in zip(hypotheses, gain)]
    order = sorted(range(len(scores)), key=lambda k: (-scores[k], k))
    return [replace(hypotheses[k], score=scores[k]) for k in order]
