"""The former name of the package ``harness_metrics``."""

raise ImportError(
    "harness.plugins is now the package harness_metrics: "
    "write 'harness_metrics.X' for 'harness.plugins.X'"
)
