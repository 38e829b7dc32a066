"""Kinds of component, in the order in which they are listed."""

KINDS = ("adapters", "tasks", "readers", "metrics", "distances", "embeddings")
HIDDEN = ("commands", "trainers", "formats")
"""Command-line verbs and training entry points (modules with ``add_arguments(parser)`` and ``run(args)``), and formats of tables
(functions that turn a :class:`~harness.reporting.table.Table` into a text)."""
SINGULAR = {kind: kind[:-1] for kind in (*KINDS, *HIDDEN)}
