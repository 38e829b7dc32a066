"""Compiled alignment of METEOR (numba): word relations and paraphrases of a group, beam search, pairs."""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).resolve().parent
SOURCES = (*(str(_FOLDER / name) for name in ("groups.py", "search.py", "pairs.py")), str(_FOLDER.parent / "score.py"))
"""Source files of the compiled functions. Stored machine code is valid only for the content with which it was compiled."""
