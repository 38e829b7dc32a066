"""What readers of one file of captions are made with."""

from __future__ import annotations

from harness.contracts import PathParam
from harness.files import captions as checks
from harness.files import records as files


class CaptionFile:
    """A reader of the file ``path``, a ``what``.

    media_root: folder that goes before the media names. limit_references: the first so many of each example. allow_empty: an empty
    reference is kept, instead of being an error.
    """

    name = "unnamed"
    what = "file of captions"

    def __init__(
        self,
        *,
        path: PathParam,
        media_root: str | None = None,
        limit_references: int | None = None,
        allow_empty: bool = False,
    ) -> None:
        self.path = files.existing(path, self.what)
        self.media_root = media_root
        self.limit_references = checks.positive(limit_references, "limit_references")
        self.allow_empty = allow_empty

    def fingerprint(self) -> str:
        params = {"limit_references": self.limit_references, "allow_empty": self.allow_empty, "media": self.media_root}
        return files.fingerprint(self.name, [self.path], params)
