"""Forms of judgment files, by their names in a spec."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from harness.judgments.caption_form import read_captions
from harness.judgments.collection import Collection
from harness.judgments.mqm_form import read_mqm
from harness.judgments.order_forms import read_orders
from harness.judgments.pair_forms import read_keyed_pairs, read_pairs

FORMS: Mapping[str, Callable[[Collection], None]] = {
    "captions": read_captions,
    "pairs": read_pairs,
    "foil": read_pairs,
    "keyed-pairs": read_keyed_pairs,
    "best-worst": read_orders,
    "ranking": read_orders,
    "mqm": read_mqm,
}
"""Form -> reader."""
