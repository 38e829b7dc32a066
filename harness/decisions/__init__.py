"""Decisions on systems from finished runs: equal, better, good enough, how
many examples.

In: finished runs, tables of columns, labels of people. Out: verdicts, intervals and
plans of labels.
"""
