"""Hallucination and detail: objects and facts of captions against annotations or
references, and polls by likelihood.
"""
