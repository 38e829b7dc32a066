"""Words of a run: a verb, a section of its report, and a kind of task."""
