"""The error for something that is not installed: a data package, a program, a jar."""

from __future__ import annotations


class Unavailable(RuntimeError):
    """Something that a metric needs is not on this machine; the message is one line and names it."""
