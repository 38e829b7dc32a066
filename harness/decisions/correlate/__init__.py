"""Correlations of columns of runs, tables and judgments."""
