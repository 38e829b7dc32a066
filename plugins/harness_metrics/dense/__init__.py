"""Captions with a time or a box: metrics of sets of events, by the protocols of the
field and one of the harness.
"""
