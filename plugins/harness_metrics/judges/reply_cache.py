"""Replies of one judge on disk, by conversation."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from harness.errors import HarnessError
from harness.files.json_text import parse_json
from harness.files.user_path import cache_folder
from harness.llm.store import ReplyStore
from harness_metrics.judges.replies import Conversation, Reply


class ReplyCache:
    """Replies of the model with a signature; those that version 0.1.0 stored, one JSON file each, are read as well.

    Parameters
    ----------
    signature : str
        Signature of the model.
    folder : Path, optional
        Folder of the files; default: ``judges`` in the folder of caches.
    """

    def __init__(self, signature: str, folder: Path | None = None) -> None:
        self.signature = signature
        self.folder = folder or cache_folder("judges")
        self.store = ReplyStore("judges", _hash(signature), self.folder, required=True)

    def key(self, conversation: Conversation) -> str:
        """Return the key of the reply to a conversation: a hash of it and of the signature."""
        return _hash(json.dumps([self.signature, list(conversation)], ensure_ascii=False, sort_keys=True))

    def read(self, keys: Sequence[str]) -> dict[str, Reply]:
        """Return the replies of the keys that are present and undamaged."""
        rows = self.store.read(keys)
        replies: dict[str, Reply] = {}
        for key in keys:
            reply = Reply(**rows[key]) if key in rows else _read_json(self.folder / key[:2] / f"{key}.json")
            if reply is not None:
                replies[key] = reply
        return replies

    def add(self, key: str, reply: Reply) -> None:
        """Store a reply; raise :class:`HarnessError` where the folder cannot be written."""
        self.store.add(key, reply.to_record())

    def close(self) -> None:
        """Close the file."""
        self.store.close()


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _read_json(path: Path) -> Reply | None:
    """Return the reply of a file of its own; None where there is no complete one."""
    try:
        return Reply(**parse_json(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, NotADirectoryError, ValueError, TypeError):
        return None
    except OSError as error:
        raise HarnessError(f"the cache of judges cannot be read ({error.strerror or error})", str(path)) from error
