"""Functions of the verbs of the core: what ``harness VERB`` prints, as an object.

In: paths, specs, runs, captions. Out: results of verbs
(:class:`harness.contracts.VerbResult`), which print as the verb does.
"""
