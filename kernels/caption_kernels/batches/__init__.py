"""Functions over batches of examples: arrays of pairs, sliced over threads."""
