"""CR, NRR and CND: quality, diversity and divergence of a corpus from exact n-gram
counts.
"""
