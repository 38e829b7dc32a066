"""Kinds of component, in the order in which they are listed."""

KINDS = ("adapters", "tasks", "readers", "metrics", "distances", "embeddings")
HIDDEN = ("commands", "trainers")
"""Command-line verbs and training entry points: modules with ``add_arguments(parser)`` and ``run(args)``."""
SINGULAR = {kind: kind[:-1] for kind in (*KINDS, *HIDDEN)}
