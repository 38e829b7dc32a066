"""Word-level recurrent language model: a baseline of unconditional text generation."""
