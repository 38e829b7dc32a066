"""Best candidate of each example by another metric of level ``item``;
caption sets in, scores out.
"""
