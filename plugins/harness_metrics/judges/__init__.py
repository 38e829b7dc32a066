"""Judges: captions and a language model in, scores,
preferences and a ranking of systems out.
"""
