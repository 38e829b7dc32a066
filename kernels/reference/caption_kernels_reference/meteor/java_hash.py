"""Java's ``String.hashCode``: meteor-1.5.jar compares its values in place of words."""

from __future__ import annotations


def java_hash(word: str) -> int:
    """Return the signed 32-bit hash of a word's UTF-16 code units.

    >>> java_hash("dog")
    99644
    >>> java_hash("em") == java_hash("aé")
    True
    """
    value = 0
    if len(word) <= 64 and word.isascii():
        for unit in word.encode("ascii"):
            value = value * 31 + unit
        value &= 0xFFFFFFFF
        return value - (1 << 32) if value & 0x80000000 else value
    units = word.encode("utf-16-le", "surrogatepass")
    for k in range(0, len(units), 2):
        value = (value * 31 + units[k] + (units[k + 1] << 8)) & 0xFFFFFFFF
    return value - (1 << 32) if value & 0x80000000 else value
