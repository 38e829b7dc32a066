"""Reports.

In: finished runs (records, samples, views). Out: console tables, HTML pages, plots,
CSV and Markdown files.
"""
