"""Keys of artifacts: a readable label, and a hash of everything that the artifact
depends on.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass

from harness.rundir.format import plain


@dataclass(frozen=True)
class ArtifactKey:
    """Name of an artifact: a readable label, and a hash of all that it depends on."""

    label: str
    digest: str

    @classmethod
    def of(cls, label: str, *values: object) -> ArtifactKey:
        """Return the key of an artifact.

        Parameters
        ----------
        label : str
            Readable beginning of the file name; not part of the hash.
        values : object
            JSON-compatible values: data content, model fingerprint, decoding, metric
            signature, code, version.
        """
        return cls(label, content_digest(values))

    @property
    def stem(self) -> str:
        """File name without ending."""
        words = re.sub(r"[^A-Za-z0-9]+", "-", self.label).strip("-").lower()
        slug = words[:40] or "piece"
        return f"{slug}-{self.digest[:16]}"


def content_digest(value: object) -> str:
    """Return the SHA-256 of a JSON-compatible value, 64 hex digits."""
    text = json.dumps(plain(value), sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
