"""The classes of the COCO caption toolkit (pycocoevalcap 1.2) without Java; see
:mod:`caption_kernels.coco.toolkit`.
"""

from caption_kernels.coco.spice import Spice, Unavailable
from caption_kernels.coco.toolkit import (
    Bleu,
    Cider,
    COCOEvalCap,
    Meteor,
    PTBTokenizer,
    Rouge,
)
from caption_kernels.lexicon.installed import MissingSources

__all__ = [
    "Bleu",
    "COCOEvalCap",
    "Cider",
    "Meteor",
    "MissingSources",
    "PTBTokenizer",
    "Rouge",
    "Spice",
    "Unavailable",
]
