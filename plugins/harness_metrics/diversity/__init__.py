"""Diversity of captions: Self-BLEU, pairwise BLEU, Distinct-n, vocabulary, novelty."""
