"""Runs as data sets with cards.

In: finished runs. Out: folders with a card, on the disk or on the Hugging Face hub.
"""

from __future__ import annotations

from harness.hub.data_set import push as push
