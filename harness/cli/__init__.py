"""The command line.

In: arguments. Out: one call of the function of the verb, and one rendering of its
result (:class:`harness.contracts.VerbResult`).
"""
