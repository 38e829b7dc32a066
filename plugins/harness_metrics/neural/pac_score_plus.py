"""Metrics ``pac-score-plus`` and ``ref-pac-score-plus``: PAC-S++ and RefPAC-S++, the
formulas of PAC-S with CLIP models that are fine-tuned by low-rank adaptations.
"""

from __future__ import annotations

from harness_metrics.neural.clipscore import PacScore, RefPacScore
from harness_metrics.neural.low_rank import EXAMPLE, LowRankClip


class PacScorePlus(PacScore):
    """PAC-S++ of the candidates with the image of the example, mean over candidates;
    higher is better, in [0, 2].

    Parameters
    ----------
    weights : str
        Local file of the authors' weights: those of a CLIP with low-rank factors.
    model : str
        Name of the architecture in open_clip; the authors' weights have the activation
        of OpenAI's models (``ViT-L-14-quickgelu`` is the other one).
    images, batch_size, device, dtype, long
        Those of :class:`~harness_metrics.neural.clipscore.ClipScore`.

    Raises
    ------
    HarnessError
        If ``weights`` is missing; at first use, if they have no low-rank factors.

    References
    ----------
    Sarto et al. 2025, *Positive-Augmented Contrastive Learning for Vision-and-Language
    Evaluation and Training*. Reading of the weights:
    :func:`~harness_metrics.neural.low_rank.merge_factors`.
    """

    label = "pac-score-plus"
    model_class = LowRankClip
    example = EXAMPLE


class RefPacScorePlus(PacScorePlus, RefPacScore):
    """Harmonic mean of PAC-S++ and the cosine with the best reference, mean over
    candidates; higher is better, in [0, 4/3].

    Parameters are those of :class:`PacScorePlus`.

    References
    ----------
    Sarto et al. 2025, RefPAC-S++.
    """

    label = "ref-pac-score-plus"
