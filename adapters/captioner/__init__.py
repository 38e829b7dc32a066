"""A word-level captioner of four architectures, told apart by where the image enters: init, pre, par, merge."""
