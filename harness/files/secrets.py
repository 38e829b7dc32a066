"""Secrets of a process: values that no file, page or message may contain.

``${secret:NAME}`` in a spec declares the value of an environment variable. Values that
look like keys are declared without it: variables whose names end with KEY, TOKEN,
SECRET or PASSWORD, parameters such as ``api_key``, passwords in URLs, keys of known
services. Whatever is written (:func:`harness.rundir.format.plain`) or printed as a
message passes through :func:`redact`.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from typing import cast
from urllib.parse import unquote_plus

MIN_LENGTH = 6
"""Shortest text that is redacted: a shorter one occurs in captions by chance."""
SEARCHED_LENGTH = 12
"""Shortest secret that is searched for within words."""
HIDDEN = "${secret}"
"""Replacement of a key that was written into a spec."""

_values: dict[str, str] = {}
"""Secret -> its replacement."""
_SECRET_VARIABLE = re.compile(
    r"((^|_)(API_?)?KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$", re.IGNORECASE
)
_SECRET_PARAMETER = re.compile(
    r"(x[-_])?(api[-_]?key|password|passwd|secret|client[-_]secret|(access|auth|bearer|hf)[-_]token|authorization)",
    re.IGNORECASE,
)
_JSON_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([\"\\/]))")
_URL_SAFE = str.maketrans("-_", "+/")
"""From base64 for addresses to the usual one."""
_KEYS = (
    re.compile(
        r"\b(sk-[\w-]{16,}|hf_\w{20,}|gh[pousr]_\w{20,}|AKIA[0-9A-Z]{16}|xox[abprs]-[\w-]{10,}|AIza[\w-]{30,})"
    ),
    re.compile(r"\b(eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)"),
    re.compile(r"\bBearer\s+([\w.~+/=-]{8,})"),
    re.compile(r"\w+://([^/\s@]+)@"),
    re.compile(
        r"[?&](?:api[-_]?key|key|token|access_token|secret|password|sig)=([^&#\s]+)",
        re.IGNORECASE,
    ),
)
"""Keys of known services, tokens, passwords in addresses and in their queries."""


def remember(value: str, replacement: str = HIDDEN) -> None:
    """Declare a text as secret; ``replacement`` replaces it.

    A text shorter than :data:`MIN_LENGTH` is ignored.
    """
    if len(value) >= MIN_LENGTH:
        _values.setdefault(value, replacement)


def forget() -> None:
    """Forget all secrets of the process."""
    _values.clear()


def is_secret_variable(name: str) -> bool:
    """Return True for the name of an environment variable that looks like that of a
    key.

    >>> [
    ...     name
    ...     for name in (
    ...         "OPENAI_API_KEY",
    ...         "HF_TOKEN",
    ...         "MYSECRET",
    ...         "HARNESS_DATA",
    ...         "TOKENIZER",
    ...         "MONKEY",
    ...     )
    ...     if is_secret_variable(name)
    ... ]
    ['OPENAI_API_KEY', 'HF_TOKEN', 'MYSECRET']
    """
    return bool(_SECRET_VARIABLE.search(name))


def looks_like_key(text: str) -> bool:
    """Return True for a text with a key of a known form, or an address with a
    password.
    """
    return any(pattern.search(text) for pattern in _KEYS)


def remember_keys(value: object, name: str = "") -> None:
    """Declare every text in a value of YAML that looks like a key, by its pattern or by
    the name of its parameter.
    """
    if isinstance(value, Mapping):
        for key, item in cast("Mapping[object, object]", value).items():
            remember_keys(item, str(key))
    elif isinstance(value, (list, tuple)):
        for item in cast("list[object]", value):
            remember_keys(item, name)
    elif isinstance(value, str):
        if _SECRET_PARAMETER.fullmatch(name):
            remember(value)
        for pattern in _KEYS:
            for match in pattern.finditer(value):
                remember(match[1])


def has_secrets() -> bool:
    """Return True when a secret is declared."""
    return bool(_values)


def holds_secret(text: str) -> bool:
    """Return True for a text with a declared secret: as it is, in JSON,
    percent-encoded, or in base64, alone or within a longer text.

    A secret of fewer than :data:`SEARCHED_LENGTH` characters counts where it stands
    alone: it may occur within a word by chance.
    """
    if not _values:
        return False
    readings = {text, _JSON_ESCAPE.sub(_unescape, text), unquote_plus(text)}
    if any(_shows(value, reading) for value in _values for reading in readings):
        return True

    # Base64 is often broken into lines.
    compact = "".join(text.split()).translate(_URL_SAFE)
    long_ones = [value for value in _values if len(value) >= SEARCHED_LENGTH]
    return any(
        piece in compact for value in long_ones for piece in _base64_pieces(value)
    )


def _shows(value: str, text: str) -> bool:
    """Return True for a text with a secret, a short one between other signs."""
    if len(value) >= SEARCHED_LENGTH:
        return value in text
    return re.search(rf"(?<![\w-]){re.escape(value)}(?![\w-])", text) is not None


def _unescape(match: re.Match[str]) -> str:
    """Return the character of an escape of JSON."""
    return chr(int(match[1], 16)) if match[1] else match[2]


def _base64_pieces(value: str) -> Iterator[str]:
    """Yield what base64 has of a text at each of the three places where it may begin,
    without the letters that its neighbours share.
    """
    # A letter is six bits: the first whole one begins at the end of the offset, rounded
    # up, the last one ends at the end of the text, rounded down.
    data = value.encode()
    for offset in range(3):
        coded = base64.b64encode(bytes(offset) + data).decode().rstrip("=")
        first = -(-8 * offset // 6)
        last = 8 * (offset + len(data)) // 6
        yield coded[first:last]


def redact(text: str) -> str:
    """Return a text in which every secret is replaced by its placeholder."""
    # The longest first: a secret may hold another one.
    for value in sorted(_values, key=len, reverse=True) if _values else ():
        if value in text:
            text = text.replace(value, _values[value])
    return text


def redact_values(value: object) -> object:
    """Return a value of mappings, lists and texts in which every text is redacted; the
    value itself without secrets.
    """
    if not _values:
        return value
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {
            redact_values(key): redact_values(item)
            for key, item in cast("Mapping[object, object]", value).items()
        }
    if isinstance(value, (list, tuple)):
        return [redact_values(item) for item in cast("list[object]", value)]
    return value
