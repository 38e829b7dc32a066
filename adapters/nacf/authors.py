"""The NACF family as its authors published it: layout of the checkpoints, and ARB's beam search.

``authors-beam``: K beams. A finished beam stays with the score -1e20 and takes no further part. Every end is stored with its score. The
search stops when max(K, candidates) hypotheses have ended or at the length limit; unfinished beams count only if none has ended. Scores
are divided by length ** length_penalty, with the end token counted in the length.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch

from harness.adapters.nacf.layers import NacfSizes
from harness.adapters.shared.decoding.decode import Decoded, DecodingBatch, Hypothesis, Step, log_prob_of, rank_of
from harness.adapters.shared.decoding.types import check_logits, reorder
from harness.adapters.shared.weights.checkpoint_config import heads_of, must_agree
from harness.adapters.shared.weights.checkpoints import Checkpoint, layer_count
from harness.contracts import Decoding
from harness.errors import InputError

UNUSED = (r"\.pos_LN\.",)
"""Keys of published checkpoints that no supported model uses."""
DEFAULT_BEAMS = 5
_UNSUPPORTED = {"pos_attention": (False,), "watch": (0,), "fusion": ("temporal_concat",), "enhance_input": (0, 2)}
_ENDED = -1e20


# --------------------------------------------------------------------------- checkpoints
def method_of(checkpoint: Checkpoint) -> str:
    """Return the method of a checkpoint, ARB, ARB2, NAB or NACF, from its keys.

    Raises :class:`InputError` for a checkpoint of another architecture.
    """
    keys = checkpoint.tensors
    checkpoint.shape("tgt_word_prj.weight", "NACF-family")
    predicts_length = any(key.startswith("auxiliary_task_predictor.") for key in keys)
    if any(key.startswith("decoder.bert.") for key in keys):
        return "NACF" if predicts_length else "ARB2"
    return "NAB" if predicts_length else "ARB"


def settings_of(data: Mapping[str, Any], method: str) -> dict[str, Any]:
    """Return the settings of a method.

    ``data`` holds the settings directly, under ``settings`` (published checkpoints), or by method (one file for several models).

    Examples
    --------
    >>> settings_of({"settings": {"max_len": 30}}, "NAB"), settings_of({"NAB": {"max_len": 12}}, "NAB")
    ({'max_len': 30}, {'max_len': 12})
    """
    inner = data.get("settings", data)
    return dict(inner.get(method, inner))


def sizes_of(checkpoint: Checkpoint, settings: Mapping[str, Any], method: str) -> NacfSizes:
    """Return the sizes of a model from the shapes of its tensors.

    Parameters
    ----------
    checkpoint
        Tensors with the authors' keys.
    settings
        Settings of the method.
    method
        ARB, ARB2, NAB or NACF.

    Raises
    ------
    InputError
        If a setting is not supported, or contradicts a shape.
    """
    where, keys = str(checkpoint.path), checkpoint.tensors
    for name, allowed in _UNSUPPORTED.items():
        if settings.get(name, allowed[-1]) not in allowed:
            raise InputError(f"the setting {name} = {settings[name]!r} is not supported", where)
    base = "decoder.bert." if method in ("ARB2", "NACF") else "decoder."
    vocabulary, width = checkpoint.shape(f"{base}embedding.word_embeddings.weight", "NACF-family")
    max_len = checkpoint.shape(f"{base}embedding.position_embeddings.weight", "NACF-family")[0]
    category = f"{base}embedding.category_embeddings.weight"
    features = _modalities(checkpoint, settings)
    must_agree(settings, {"dim_hidden": width, "vocab_size": vocabulary, "max_len": max_len}, where)
    return NacfSizes(
        method=method, features=features, width=width, vocabulary=vocabulary, max_len=max_len,
        layers=layer_count(keys, rf"{base.replace('.', chr(92) + '.')}layer\.(\d+)\."),
        heads=heads_of(settings, "num_attention_heads", width, 8, where),
        inner=checkpoint.shape(f"{base}layer.0.intermediate.dense.weight", "NACF-family")[0],
        categories=keys[category].shape[0] if category in keys else 0,
        normalised=any(key.startswith("joint_representation_learner.") for key in keys),
        layer_norms=f"{base}layer.0.output.LayerNorm.weight" in keys,
        output_bias="tgt_word_prj.bias" in keys, enhance=settings.get("enhance_input", 2),
        activation=settings.get("hidden_act", "gelu_new"), eps=settings.get("layer_norm_eps", 1e-5),
    )  # fmt: skip


def _modalities(checkpoint: Checkpoint, settings: Mapping[str, Any]) -> dict[str, int]:
    """Return the feature width of each modality, in the order of the setting ``modality``."""
    widths = {
        key.split(".")[1].removeprefix("Encoder_").lower(): tensor.shape[1]
        for key, tensor in checkpoint.tensors.items()
        if key.startswith("encoder.Encoder_") and key.endswith(".0.weight")
    }
    order = settings.get("modality") or "".join(name for name in "mioa" if name in widths)
    if sorted(order) != sorted(widths):
        raise InputError(f"the setting modality = {order!r}, the checkpoint has {sorted(widths)}", str(checkpoint.path))
    return {name: widths[name] for name in order}


# --------------------------------------------------------------------------- search
class _Token(NamedTuple):
    """One token of a hypothesis, with its numbers under the unmodified model."""

    id: int
    log_prob: float
    rank: int


_Path = list[_Token]


def authors_beam(step: Step, decoding: Decoding, batch: DecodingBatch) -> Decoded:
    """Return up to ``candidates`` hypotheses of each example, best first.

    If fewer have ended, the last one is repeated.

    Parameters
    ----------
    step
        Decoder step of an ARB model.
    decoding
        ``beams`` (default 5), ``candidates`` (1), ``length_penalty`` and ``max_length``.
    batch
        E examples; the first end token counts.
    """
    beams, limit, total = decoding.beams or DEFAULT_BEAMS, decoding.max_length or batch.max_length, len(batch)
    count, stop = decoding.candidates or 1, batch.stop[0]
    logits, state = step(batch.start, batch.state)
    size = logits.shape[-1]
    index = torch.arange(total, device=logits.device).repeat_interleave(beams)
    logits, state = logits[index], reorder(step, state, index)
    scores = torch.zeros(total, beams, device=logits.device, dtype=logits.dtype)
    paths: list[list[_Path]] = [[[] for _ in range(beams)] for _ in range(total)]
    ended: list[list[tuple[float, _Path]]] = [[] for _ in range(total)]
    finished = [False] * total
    for position in range(limit):
        check_logits(logits, batch, index.tolist(), position)
        log_probs = logits.log_softmax(-1).reshape(total, beams, size)
        rows = torch.arange(total * beams, device=logits.device)
        tokens = torch.full_like(rows, stop)
        for e in range(total):
            if finished[e]:
                continue
            parents, best = _advance(log_probs[e], scores, paths[e], e, stop, position)
            rows[e * beams : (e + 1) * beams] = parents + e * beams
            tokens[e * beams : (e + 1) * beams] = best
            paths[e] = _extended(paths[e], logits[e * beams : (e + 1) * beams], parents, best)
            for k in range(beams):
                if int(best[k]) == stop and not finished[e]:
                    ended[e].append((float(scores[e, k]), paths[e][k]))
                    finished[e] = len(ended[e]) >= max(beams, count)
            if position + 1 == limit and not ended[e]:
                ended[e] = [(float(scores[e, k]), paths[e][k]) for k in range(beams)]
        if all(finished) or position + 1 == limit:
            break
        logits, state = step(tokens, reorder(step, state, rows))
    return Decoded(tuple(_best(hypotheses, count, stop, decoding.length_penalty) for hypotheses in ended))


def _advance(
    log_probs: torch.Tensor, scores: torch.Tensor, paths: list[_Path], e: int, stop: int, position: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return parents (K,) and tokens (K,) of the K best continuations of one example, and write their scores to ``scores[e]``."""
    beams, size = log_probs.shape
    if position == 0:
        sums = log_probs[0]
    else:
        sums = log_probs + scores[e][:, None]
        ended = torch.tensor([path[-1].id == stop for path in paths], device=sums.device)
        sums = sums.masked_fill(ended[:, None], _ENDED)
    best, flat = sums.reshape(-1).topk(beams)
    scores[e] = best
    return flat // size, flat % size


def _extended(paths: list[_Path], logits: torch.Tensor, parents: torch.Tensor, tokens: torch.Tensor) -> list[_Path]:
    """Return the paths of the parents (K,), each with its new token (K,)."""
    rows = logits[parents]
    new = zip(tokens.tolist(), log_prob_of(rows, tokens).tolist(), rank_of(rows, tokens).tolist())
    return [[*paths[parent], _Token(*entry)] for parent, entry in zip(parents.tolist(), new)]


def _best(ended: list[tuple[float, _Path]], count: int, stop: int, alpha: float) -> tuple[Hypothesis, ...]:
    """Return the ``count`` hypotheses with the largest score / length ** alpha."""
    ranked = sorted(((score / len(path) ** alpha, path) for score, path in ended), key=lambda pair: -pair[0])
    ranked += ranked[-1:] * max(0, count - len(ranked))
    return tuple(
        Hypothesis(
            np.array([token.id for token in path], dtype=np.int64),
            np.array([token.log_prob for token in path]),
            np.array([token.rank for token in path], dtype=np.int64),
            "stop" if path[-1].id == stop else "length",
            score,
        )
        for score, path in ranked[:count]
    )


STRATEGIES = {"authors-beam": authors_beam}
