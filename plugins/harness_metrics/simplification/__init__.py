"""Metrics of text simplification, which compare a text with its source and its
references.
"""
