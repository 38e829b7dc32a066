"""A3DS: the reference game's speaker and listener, their training and their adapter."""
