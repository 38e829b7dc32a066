"""Pre-gen metrics: scores of a model from its probabilities for the reference captions,
before it generates.
"""
