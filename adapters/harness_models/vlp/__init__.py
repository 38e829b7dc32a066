"""VLP: captions from region features, by one BERT with [MASK] slots."""
