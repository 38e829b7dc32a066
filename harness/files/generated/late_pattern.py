"""Regular expressions that are compiled where they are needed first: most captions have
nothing that they look for.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache


def late_pattern(pattern: str, flags: int = 0) -> Callable[[], re.Pattern[str]]:
    """Return a function that returns the compiled pattern.

    >>> digits = late_pattern("[0-9]+")
    >>> digits().findall("2 dogs, 10 cats")
    ['2', '10']
    """
    return cache(lambda: re.compile(pattern, flags))
