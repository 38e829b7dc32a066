"""Pragmatic scores of captions in reference games on A3DS: discriminativity,
efficiency, relevance, false features.
"""
