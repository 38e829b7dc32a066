"""Distribution metrics on text embeddings (MMD, Frechet, energy, sliced Wasserstein);
vectors in, divergences and p-values out.
"""
