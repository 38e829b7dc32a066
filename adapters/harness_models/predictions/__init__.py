"""Adapter for captions in files."""
