"""Files of the user: paths go in; records, captions, examples and YAML data with their places in the file come out.

Readers, adapters and the spec loader import these modules; the modules import only :mod:`harness.contracts` and
:mod:`harness.errors`.
"""
