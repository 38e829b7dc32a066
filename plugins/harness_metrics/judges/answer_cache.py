"""Answers of judge models on disk, keyed by the content of the request.

Layout: ``FOLDER/ab/abcdef....json``, one file per answer; the name is the SHA-256 of the signature of the model and the
conversation. FOLDER is ``$HARNESS_CACHE/judges`` by default (else ``$XDG_CACHE_HOME/harness/judges``, else
``~/.cache/harness/judges``). A file is written under another name and then renamed: after a kill every file is complete or
absent, and several processes may share a folder. A file that is damaged in another way counts as absent and is replaced.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from pathlib import Path

from harness.errors import HarnessError
from harness.files.cache_folder import cache_folder
from harness.files.json_text import parse_json
from harness_metrics.judges.replies import Conversation, Reply


class AnswerCache:
    """Map from requests to answers.

    Parameters
    ----------
    folder : Path, optional
        Folder of the files; default: see the module docstring.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder

    def path(self, signature: str, conversation: Conversation) -> Path:
        """Return the file of the answer of a model with this signature to a conversation."""
        content = json.dumps([signature, list(conversation)], ensure_ascii=False, sort_keys=True)
        name = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
        return (self.folder or cache_folder("judges")) / name[:2] / f"{name}.json"

    def get(self, path: Path) -> Reply | None:
        """Return the answer in a file; None where there is no complete answer."""
        try:
            return Reply(**parse_json(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None
        except (ValueError, TypeError):  # damaged: the answer is requested again
            return None
        except OSError as error:
            raise HarnessError(f"the cache of judges cannot be read ({error.strerror or error})", str(path)) from error

    def put(self, path: Path, reply: Reply) -> None:
        """Write an answer; raise :class:`HarnessError` where the folder cannot be written."""
        temporary = path.with_suffix(f".{os.getpid()}-{threading.get_ident()}.part")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_text(json.dumps(reply.to_record(), ensure_ascii=False), encoding="utf-8")
            os.replace(temporary, path)
        except OSError as error:
            raise HarnessError(
                f"the cache of judges cannot be written ({error.strerror or error}): set HARNESS_CACHE or the judge's "
                "'cache' to a folder that can, or 'cache' to false", str(path),
            ) from error  # fmt: skip
