"""MAUVE: embedding vectors of candidates and references in,
the area under their divergence frontier out.
"""
