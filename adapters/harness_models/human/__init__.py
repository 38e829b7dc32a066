"""Adapter for human captions: some references of an example are scored against the
others.
"""
