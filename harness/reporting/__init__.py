"""Reports: one self-contained HTML page of one or several runs, readable offline."""
