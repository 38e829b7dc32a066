"""Two-sample tests of an example's texts: MMD over many kernels, a classifier."""
