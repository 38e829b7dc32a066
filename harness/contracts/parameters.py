"""Types of named values, and marks of parameters; imports nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

Parameters = Mapping[str, Any]
"""Named values of any type: constructor parameters, decoding options, metadata."""
Values = dict[str, Any]
"""Named values of any type, to be filled or changed."""


class PathMark:
    """Marker of constructor parameters that are file or folder names."""


PathParam = Annotated[str, PathMark]
"""Annotation of a constructor parameter that is a path: a relative one in a spec is resolved beside the spec file.

>>> def __init__(self, checkpoint: PathParam, vocabulary: PathParam | None = None) -> None: ...
"""
PathLike = Annotated[str | Path, PathMark]
"""As :data:`PathParam`, for constructors that also accept a :class:`~pathlib.Path`."""
