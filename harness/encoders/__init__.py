"""What every neural model of texts and images here needs: devices, weights by path or
by name, batches by a budget of tokens, images decoded ahead, and a store of vectors.

Metrics, embeddings and adapters use it; the core of the harness does not. torch is
imported when a model is loaded.
"""
