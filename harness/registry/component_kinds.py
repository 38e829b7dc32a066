"""Kinds of component, in the order in which they are listed."""

KINDS = ("adapters", "tasks", "readers", "metrics", "distances", "embeddings")
HIDDEN = (
    "commands",
    "trainers",
    "formats",
    "executors",
    "forms",
    "task_kinds",
    "report_sections",
    "live_views",
    "declared_components",
)
"""Command-line verbs and training entry points (modules with ``add_arguments(parser)``
and ``run(args)``), formats of tables (functions that turn a
:class:`~harness.reporting.table.Table` into a text), clusters (classes with the methods
of :class:`~harness.run.executor.Cluster`), forms of files of captions
(:class:`~harness.files.forms.form_kind.FormKind`), kinds of task
(:class:`~harness.spec.task_kinds.TaskKind`), sections of reports
(:class:`~harness.reporting.sections.ReportSection`), views of a run while it goes on
(contexts such as :class:`~harness.page.live.LivePage`), and constructors of components
that entries of manifests declare in place of an import, by the key of the entry
(functions of an :class:`~harness.registry.manifest_schema.Entry`).
"""
SINGULAR = {kind: kind[:-1] for kind in (*KINDS, *HIDDEN)}
