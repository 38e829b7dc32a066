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
    for name, characters, share in _EAST_ASIAN:
        text = _decoded(data, name)
        wide = re.findall(r"[^\x00-\x7f]", text or "")
        if (
            text is not None
            and len(re.findall(characters, text)) >= share * max(1, len(wide))
            and len(wide) > 0.05 * len(text)
        ):
            return name
    windows = _decoded(data, "cp1252")
    mac = _decoded(data, "mac_roman")
    if mac is not None and _usual_letters(mac) > _usual_letters(
        windows or data.decode("latin-1")
    ):
        return "MACINTOSH"
    return "ISO-8859-1" if windows is None else "CP1252"


def encoding_hint(path: str | Path) -> str:
    """Return the likely encoding of a file of text that is not UTF-8 and the command
    that converts it, in parentheses.

    Empty where there is no such file.
    """
    file = Path(path)
    if not file.is_file():
        return ""
    with file.open("rb") as raw:
        magic = raw.read(4)
    unpack = {b"\x1f\x8b": "gunzip -c", b"\x28\xb5": "zstd -dc"}.get(magic[:2])
    name = shlex.quote(str(path))
    if unpack == "zstd -dc":
        data = b""
    elif unpack:
        data = BoundedGzip(file).read(SAMPLE_BYTES)
    else:
        with file.open("rb") as raw:
            data = raw.read(SAMPLE_BYTES)
    encoding = guess_encoding(data)
    command = (
        f"{unpack} {name} | iconv -f {encoding} -t UTF-8 > NEW"
        if unpack
        else f"iconv -f {encoding} -t UTF-8 {name} > NEW"
    )
    return f" ({encoding}; convert it: {command})"


def _decoded(data: bytes, encoding: str) -> str | None:
    """Return bytes as text, None where they are not in an encoding; a last character
    that was cut off is left out.
    """
    for end in (len(data), len(data) - 1):
        try:
            return data[:end].decode(encoding)
        except UnicodeDecodeError:
            continue
    return None


def _usual_letters(text: str) -> int:
    return sum(character in _USUAL_LETTERS for character in text)
