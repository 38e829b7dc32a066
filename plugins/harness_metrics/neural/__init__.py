"""Metrics on neural vectors: BERTScore, CLIPScore and word mover's distance; captions
(and images) in, scores out.
"""
