"""The former name of the package ``harness_models``."""

raise ImportError(
    "harness.adapters is now the package harness_models: "
    "write 'harness_models.X' for 'harness.adapters.X'"
)
