"""People as a model: some of an example's references are scored against the others."""
