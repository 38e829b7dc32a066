"""CLIPCap as its authors published it: layout of the checkpoints,
and the searches of their code.

``authors-beam``: token scores are log-softmax(logits / temperature). A finished beam
continues with id 0 at no cost and keeps its length. Candidates are ranked by sum /
length over all beams; the result is all beams, best mean first. ``authors-greedy`` is
their nucleus filter followed by the arg-max; the filter never removes the top token, so
this is greedy search for every top_p.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from harness.contracts import Decoding
from harness.errors import HarnessError, InputError
from harness_models.clipcap.mappers import MAPPER_HEADS, ClipCapSizes
from harness_models.shared.decoding.decode import greedy as authors_greedy
from harness_models.shared.decoding.types import (
    Decoded,
    DecodingBatch,
    Step,
    Trace,
    TraceStep,
    check_logits,
    reorder,
)
from harness_models.shared.layers import Gpt2Sizes
from harness_models.shared.weights.checkpoint_config import heads_of, must_agree
from harness_models.shared.weights.checkpoints import Checkpoint, layer_count

__all__ = [
    "OLD_BUFFERS",
    "STRATEGIES",
    "authors_beam",
    "authors_greedy",
    "sizes_of",
    "tied_tensors",
]
DEFAULT_BEAMS = 5
OLD_BUFFERS = (r"^gpt\.transformer\.h\.\d+\.attn\.(bias|masked_bias)$",)
"""Buffers of old transformers versions in GPT-2's state dict; they hold no weights."""


# --------------------------------------------------------------------------- checkpoints
def tied_tensors(tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return the tensors with both names of GPT-2's tied word embedding,
    of which some writers store only one.
    """
    result = dict(tensors)
    words = "gpt.transformer.wte.weight"
    head = "gpt.lm_head.weight"
    for name, twin in ((words, head), (head, words)):
        if name in result:
            result.setdefault(twin, result[name])
    return result


def sizes_of(checkpoint: Checkpoint, settings: Mapping[str, Any]) -> ClipCapSizes:
    """Return the sizes of a model from the shapes of its tensors.

    Parameters
    ----------
    checkpoint
        Tensors with the authors' keys.
    settings
        Values of the configuration.

    Raises
    ------
    InputError
        If the checkpoint is of another architecture, or a value of ``settings``
        contradicts a shape.
    """
    path = str(checkpoint.path)
    keys = checkpoint.tensors
    vocabulary, width = checkpoint.shape("gpt.transformer.wte.weight", "CLIPCap")
    positions = checkpoint.shape("gpt.transformer.wpe.weight", "CLIPCap")[0]
    layers = layer_count(keys, r"gpt\.transformer\.h\.(\d+)\.")
    inner = checkpoint.shape("gpt.transformer.h.0.mlp.c_fc.weight", "CLIPCap")[1]
    heads = heads_of(
        settings, "n_head", width, width // 64 if width % 64 == 0 else None, path
    )
    activation = settings.get("activation_function", "gelu_new")
    if activation not in ("gelu_new", "gelu_pytorch_tanh"):
        raise InputError(
            f"GPT-2's activation is gelu_new; the configuration says {activation!r}",
            path,
        )
    eps = float(settings.get("layer_norm_epsilon", 1e-5))
    gpt2 = Gpt2Sizes(
        vocabulary=vocabulary,
        positions=positions,
        width=width,
        layers=layers,
        heads=heads,
        inner=inner,
        eps=eps,
    )
    sizes = _mapper_sizes(checkpoint, settings, gpt2)
    shapes = {
        "prefix_length": sizes.prefix_length,
        "prefix_size": sizes.clip,
        "vocab_size": vocabulary,
    }
    shapes |= {"n_embd": width, "n_layer": layers, "n_positions": positions}
    if sizes.mapper == "transformer":
        shapes |= {"clip_length": sizes.clip_length, "num_mapper_layers": sizes.layers}
    must_agree(settings, shapes, path)
    return sizes


def _mapper_sizes(
    checkpoint: Checkpoint, settings: Mapping[str, Any], gpt2: Gpt2Sizes
) -> ClipCapSizes:
    if "clip_project.prefix_const" in checkpoint.tensors:
        return _transformer_sizes(checkpoint, settings, gpt2)
    single = "clip_project.weight" in checkpoint.tensors
    first, last = (
        ("clip_project.weight",) * 2
        if single
        else ("clip_project.model.0.weight", "clip_project.model.2.weight")
    )
    hidden, clip = checkpoint.shape(first, "CLIPCap")
    outputs = checkpoint.shape(last, "CLIPCap")[0]
    if outputs % gpt2.width:
        raise InputError(
            f"the mapper has {outputs} outputs; expected a multiple of GPT-2's width "
            f"{gpt2.width}",
            str(checkpoint.path),
        )
    return ClipCapSizes(
        mapper="linear" if single else "mlp",
        clip=clip,
        gpt2=gpt2,
        hidden=hidden,
        prefix_length=outputs // gpt2.width,
        normalise=bool(settings.get("normalise")),
    )


def _transformer_sizes(
    checkpoint: Checkpoint, settings: Mapping[str, Any], gpt2: Gpt2Sizes
) -> ClipCapSizes:
    rows, clip = checkpoint.shape("clip_project.linear.weight", "CLIPCap")
    heads = heads_of(
        settings, "mapper_heads", gpt2.width, MAPPER_HEADS, str(checkpoint.path)
    )
    if rows % gpt2.width:
        raise InputError(
            f"the mapper's first layer has {rows} outputs; "
            f"expected a multiple of GPT-2's width {gpt2.width}",
            str(checkpoint.path),
        )
    normalise = settings.get("normalise")
    return ClipCapSizes(
        mapper="transformer",
        clip=clip,
        gpt2=gpt2,
        clip_length=rows // gpt2.width,
        heads=heads,
        prefix_length=checkpoint.shape("clip_project.prefix_const", "CLIPCap")[0],
        layers=layer_count(
            checkpoint.tensors, r"clip_project\.transformer\.layers\.(\d+)\."
        ),
        hidden=checkpoint.shape(
            "clip_project.transformer.layers.0.mlp.fc1.weight", "CLIPCap"
        )[0],
        normalise=True if normalise is None else bool(normalise),
    )


# --------------------------------------------------------------------------- searches
def authors_beam(step: Step, decoding: Decoding, batch: DecodingBatch) -> Decoded:
    """Return the best hypotheses of the authors' beam search.

    Parameters
    ----------
    step
        Decoder step of the model.
    decoding
        ``beams`` (default 5, at least ``candidates``), ``candidates`` (1),
        ``temperature`` and ``max_length``.
    batch
        E examples with exactly one end token.

    Returns
    -------
    Decoded
        ``candidates`` hypotheses of each example, best first. Scores are mean
        log-probabilities at ``temperature``.

    Raises
    ------
    HarnessError
        If there are fewer beams than candidates, or more beams than vocabulary entries.
    """
    beams = _beams(decoding)
    limit = decoding.max_length or batch.max_length
    total = len(batch)
    if len(batch.stop) != 1:
        raise HarnessError(
            f"authors-beam requires exactly one end token; found {len(batch.stop)}"
        )
    logits, state = step(batch.start, batch.state)
    check_logits(logits, batch, range(total), 0)
    if logits.shape[-1] < beams:
        raise HarnessError(
            f"decoding: {beams} beams for a vocabulary of {logits.shape[-1]}"
        )
    scores, first = (logits / decoding.temperature).log_softmax(-1).topk(beams, dim=-1)
    device = logits.device
    index = torch.arange(total, device=device).repeat_interleave(beams)
    logits = logits[index]
    state = reorder(step, state, index)
    history = [TraceStep.of(scores, first, torch.zeros_like(first), logits)]
    lengths = torch.ones_like(scores)
    stopped = first == batch.stop[0]
    for position in range(1, limit):
        if bool(stopped.all()):
            break
        logits, state = step(history[-1].tokens.reshape(-1), state)
        check_logits(logits, batch, index.tolist(), position)
        log_probs = (
            (logits / decoding.temperature).log_softmax(-1).reshape(total, beams, -1)
        )
        # A finished beam has one continuation, id 0 at no cost, so that it competes
        # with the growing beams under its own mean.
        log_probs = log_probs.masked_fill(stopped[:, :, None], float("-inf"))
        log_probs[:, :, 0] = log_probs[:, :, 0].masked_fill(stopped, 0.0)
        grown = lengths + (~stopped).to(lengths)
        # The authors rank by the mean over the length after the step, and recover the
        # sum from the chosen mean afterwards.
        means = ((scores[:, :, None] + log_probs) / grown[:, :, None]).reshape(
            total, -1
        )
        best, flat = means.topk(beams, dim=-1)
        parents = flat // logits.shape[-1]
        tokens = flat % logits.shape[-1]
        rows = (parents + torch.arange(total, device=device)[:, None] * beams).reshape(
            -1
        )
        lengths = grown.gather(1, parents)
        was_stopped = stopped.gather(1, parents)
        scores = best * lengths
        history.append(TraceStep.of(scores, tokens, parents, logits[rows]))
        stopped = was_stopped | (tokens == batch.stop[0])
        state = reorder(step, state, rows)
    return _collect(
        Trace(history),
        scores / lengths,
        lengths,
        decoding.candidates or 1,
        batch.stop[0],
    )


def _beams(decoding: Decoding) -> int:
    beams = decoding.beams or max(DEFAULT_BEAMS, decoding.candidates or 1)
    if (decoding.candidates or 1) > beams:
        raise HarnessError(
            f"decoding: {beams} beams give at most {beams} candidates; "
            f"requested {decoding.candidates}"
        )
    return beams


def _collect(
    trace: Trace, means: torch.Tensor, lengths: torch.Tensor, count: int, stop: int
) -> Decoded:
    """Return the ``count`` best hypotheses per example, by the means (E, K) of the last
    beams and their lengths (E, K).
    """
    order = means.argsort(dim=1, descending=True, stable=True)[:, :count].tolist()
    last = trace.tokens.shape[1] - 1
    averages = means.tolist()
    sizes = lengths.long().tolist()
    # A path is cut at the end of its hypothesis: the ids 0 behind it only kept the beam
    # in the search.
    return Decoded(
        tuple(
            tuple(
                trace.hypothesis(
                    e, trace.path(e, last, k)[: sizes[e][k]], averages[e][k], stop
                )
                for k in best
            )
            for e, best in enumerate(order)
        )
    )


STRATEGIES = {"authors-beam": authors_beam, "authors-greedy": authors_greedy}
