"""METEOR's lexicon: its sources, its file and its place on this machine."""
