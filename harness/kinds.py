"""The kinds of component, in the order in which they are listed."""

KINDS = ("adapters", "tasks", "readers", "metrics", "distances", "embeddings")
SINGULAR = {kind: kind[:-1] for kind in KINDS}
