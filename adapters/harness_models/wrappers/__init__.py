"""Adapters around another adapter: fixed decoding settings, minimum-Bayes-risk choice,
one caption written from several.
"""
