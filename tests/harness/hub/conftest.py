"""A small run, in a working directory of its own."""

from tests.support.small_run import folder, spec

__all__ = ["folder", "spec"]
