"""A word-level recurrent language model: what unconditional text generation is compared with."""
