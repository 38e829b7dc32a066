"""NACF, NAB and ARB: video captioning in a few parallel passes,
and its left-to-right teacher.
"""
