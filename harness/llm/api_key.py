"""Keys of servers, from variables of the environment."""

from __future__ import annotations

import os
import re

from harness.errors import HarnessError
from harness.files.secrets import remember

_KEY = re.compile(r"[!-~]+")
"""Characters that a header may carry and keys have: printable ASCII without spaces."""


def read_key(owner: str, variable: str | None) -> str | None:
    """Return the API key in an environment variable, None without a variable.

    Raises :class:`HarnessError` for a variable without a value, and for a key that no
    header can carry. The key is not repaired: a line break within a variable is as
    likely the sign of another mistake.
    """
    if variable is None:
        return None
    key = os.environ.get(variable)
    if not key:
        raise HarnessError(
            f"{owner}: the environment variable {variable} holds no key",
            parameter="api_key_env",
        )
    for position, character in enumerate(key, start=1):
        # The key itself stays out of the message.
        if not _KEY.fullmatch(character):
            raise HarnessError(
                f"{owner}: the key in {variable} is not ASCII without spaces and line "
                f"breaks: character {position} of {len(key)} is "
                f"U+{ord(character):04X}; for a key in a file: "
                f"export {variable}=\"$(tr -d '[:space:]' < FILE)\"",
                parameter="api_key_env",
            )
    remember(key, f"${{secret:{variable}}}")
    return key
