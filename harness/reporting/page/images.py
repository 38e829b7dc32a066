"""Thumbnails of the examples' images, embedded up to a size budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.reporting.page.assets import Block
from harness.reporting.page.groups import Group


@dataclass(frozen=True)
class Thumbnails:
    """Thumbnails by example id."""

    data: dict[str, str] = field(default_factory=dict[str, str])

    def blocks(self, name: str) -> list[Block]:
        """Return the block of the thumbnails; none without images."""
        return [Block.of_json(f"{name}-images", self.data)] if self.data else []


def thumbnails(group: Group, ids: Sequence[object]) -> Thumbnails:
    """Return the thumbnails of examples."""
    return Thumbnails()
