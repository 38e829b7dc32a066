"""Kinds of component, in the order in which they are listed."""

KINDS = ("adapters", "tasks", "readers", "metrics", "distances", "embeddings")
HIDDEN = ("commands", "trainers", "formats", "executors")
"""Command-line verbs and training entry points (modules with ``add_arguments(parser)`` and ``run(args)``), formats of tables
(functions that turn a :class:`~harness.reporting.table.Table` into a text), and clusters
(classes with the methods of :class:`~harness.run.executor.Cluster`)."""
SINGULAR = {kind: kind[:-1] for kind in (*KINDS, *HIDDEN)}
