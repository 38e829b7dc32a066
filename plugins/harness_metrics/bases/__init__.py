"""Bases that metrics of several families share: scores as a case of their permutation
null, embeddings, corpus states of inner metrics.
"""
