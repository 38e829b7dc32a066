"""Readers: a path or parameters go in, examples with their references come out."""
