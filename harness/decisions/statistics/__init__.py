"""Statistics that decisions alone use."""
