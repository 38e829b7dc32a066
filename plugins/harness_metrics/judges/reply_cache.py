"""Replies of one judge on disk, by conversation."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from harness.llm.store import ReplyStore
from harness_metrics.judges.replies import Conversation, Reply


class ReplyCache:
    """Replies of the model with a signature.

    Parameters
    ----------
    signature : str
        Signature of the model.
    folder : Path, optional
        Folder of the files; default: ``judges`` in the folder of caches.
    """

    def __init__(self, signature: str, folder: Path | None = None) -> None:
        self.signature = signature
        self.store = ReplyStore("judges", _hash(signature), folder, required=True)

    def key(self, conversation: Conversation) -> str:
        """Return the key of the reply to a conversation: a hash of it, by the content
        of an image, and of the signature.
        """
        messages = [
            {name: text for name, text in message.items() if name != "image"}
            for message in conversation
        ]
        return _hash(
            json.dumps([self.signature, messages], ensure_ascii=False, sort_keys=True)
        )

    def read(self, keys: Sequence[str]) -> dict[str, Reply]:
        """Return the replies of the keys that are present and undamaged."""
        replies: dict[str, Reply] = {}
        for key, row in self.store.read(keys).items():
            with suppress(TypeError):  # a row with other fields
                replies[key] = Reply(**row)
        return replies


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
