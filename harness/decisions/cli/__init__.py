"""The verbs of decisions."""
