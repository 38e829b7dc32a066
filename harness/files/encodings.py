"""Text that is not UTF-8: its likely encoding, and the command that converts it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from harness.files.streams import BoundedGzip

SAMPLE_BYTES = 1 << 22
"""Number of bytes of a file that its encoding is guessed from."""
_BYTE_ORDER_MARKS = {
    b"\xff\xfe\0\0": "UTF-32",
    b"\0\0\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
_USUAL_LETTERS = frozenset(
    "àáâãäåæçèéêëìíîïñòóôõöøùúûüßœÀÁÂÄÅÆÇÈÉÊËÍÎÑÓÔÖØÚÜ‘’“”–—…•°£€"
)
"""Characters beyond ASCII that captions of western languages hold; those of another
encoding rarely are among them.
"""
_EAST_ASIAN = (
    ("SHIFT_JIS", "[\u3040-\u30ff]", 0.2),
    ("EUC-KR", "[\uac00-\ud7a3]", 0.8),
    ("GB18030", "[\u4e00-\u9fff\u3000-\u303f\uff00-\uff5e]", 0.9),
)
"""Encodings of two bytes, with a kind of character and its least share among those
beyond ASCII.
"""


def guess_encoding(data: bytes) -> str:
    """Return the name of the likely encoding of bytes that are not UTF-8, as the
    program ``iconv`` knows it.

    >>> (
    ...     guess_encoding("a café".encode("cp1252")),
    ...     guess_encoding("a dog".encode("utf-16")),
    ... )
    ('CP1252', 'UTF-16')
    """
    for mark, name in _BYTE_ORDER_MARKS.items():
        if data.startswith(mark):
            return name

    # Text in UTF-16 without a mark: every other byte of Latin text is zero.
    for offset, name in ((1, "UTF-16LE"), (0, "UTF-16BE")):
        half = data[offset::2]
        if half and half.count(0) > 0.5 * len(half):
            return name

    # Bytes of one encoding are often valid in another, as other characters: only text
    # that is made of the usual ones counts.
    for name, characters, share in _EAST_ASIAN:
        text = _decode(data, name)
        if text is None:
            continue
        wide = len(re.findall(r"[^\x00-\x7f]", text))
        usual = len(re.findall(characters, text))
        if usual >= share * max(1, wide) and wide > 0.05 * len(text):
            return name

    # Western languages: any bytes are valid in these encodings, or nearly.
    windows = _decode(data, "cp1252")
    mac = _decode(data, "mac_roman")
    western = windows or data.decode("latin-1")
    if mac is not None and _count_usual(mac) > _count_usual(western):
        return "MACINTOSH"
    return "ISO-8859-1" if windows is None else "CP1252"


def encoding_hint(path: str | Path) -> str:
    """Return the likely encoding of a file of text that is not UTF-8 and the command
    that converts it, in parentheses.

    Empty where there is no such file, and for one that is no text in any encoding.
    """
    file = Path(path)
    if not file.is_file():
        return ""
    with file.open("rb") as raw:
        data = raw.read(SAMPLE_BYTES)

    # The encoding of a Zstandard file is not looked at: unpacking it takes a library.
    unpack = {b"\x1f\x8b": "gunzip -c", b"\x28\xb5": "zstd -dc"}.get(data[:2])
    if unpack == "zstd -dc":
        data = b""
    elif unpack:
        data = BoundedGzip(file).read(SAMPLE_BYTES)

    encoding = guess_encoding(data)
    if "\0" in data.decode(encoding, errors="replace"):
        return ""
    name = shlex.quote(str(path))
    command = f"iconv -f {encoding} -t UTF-8 {name} > NEW"
    if unpack:
        command = f"{unpack} {name} | iconv -f {encoding} -t UTF-8 > NEW"
    return f" ({encoding}; convert it: {command})"


def _decode(data: bytes, encoding: str) -> str | None:
    """Return bytes as text, None where they are not in an encoding; a last character
    that was cut off is left out.
    """
    for end in (len(data), len(data) - 1):
        try:
            return data[:end].decode(encoding)
        except UnicodeDecodeError:
            continue
    return None


def _count_usual(text: str) -> int:
    """Return the number of characters that captions of western languages hold."""
    return sum(character in _USUAL_LETTERS for character in text)
