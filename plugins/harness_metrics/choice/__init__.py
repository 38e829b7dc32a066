"""Choices by likelihood: a model selects the option to which it gives the highest
probability.
"""
