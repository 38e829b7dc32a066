"""Specs.

In: YAML files, mappings and ``--set`` texts. Out:
validated models with the file and line of every key.
"""
