"""Seeds derived by hashing: order, batch size and sharding do not change a seed."""

from __future__ import annotations

import hashlib


def derive(seed: int, *parts: str | int) -> int:
    """Return a 63-bit integer that depends on the run seed and on further parts
    (example id, sample index).

    >>> (
    ...     derive(0, "image-1") == derive(0, "image-1"),
    ...     derive(0, "image-1") == derive(1, "image-1"),
    ... )
    (True, False)
    """
    text = "\x1f".join([str(seed), *map(str, parts)]).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little") >> 1
