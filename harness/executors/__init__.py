"""Executors beyond the processes of one machine.

In: jobs of a run. Out: their results, in the order of the examples.
"""
