"""The former name of the package ``harness_tasks``."""

raise ImportError(
    "harness.tasks is now the package harness_tasks: "
    "write 'harness_tasks.X' for 'harness.tasks.X'"
)
