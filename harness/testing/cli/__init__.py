"""The verbs ``check`` and ``new-plugin``."""
