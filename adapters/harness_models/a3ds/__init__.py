"""A3DS: speaker and listener of the reference game, with their training."""
