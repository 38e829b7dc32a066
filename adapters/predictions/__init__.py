"""Captions that a model gave beforehand, read from files."""
