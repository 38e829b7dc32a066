"""The command line: thin verbs over the Python API."""
