"""Distribution-aware metrics of events: one annotator's or system's set of events is
the unit, whose events have joint distances and product kernels of place and words.
"""
