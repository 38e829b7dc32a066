"""Neural models of texts and images. In: weights by path or by name, texts, images.
Out: their vectors, on the device of choice, and their store on disk.

Devices, batches by a budget of tokens, precisions, images decoded ahead and texts
beyond the length of a model are the same for metrics, embeddings and adapters, which
use this; the core of the harness does not. torch is imported when a model is loaded.
"""
