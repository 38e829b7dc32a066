"""Text embeddings, one module per registered name: texts in,
float32 vectors of shape (T, d) out.
"""
