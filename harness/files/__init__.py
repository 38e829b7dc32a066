"""Files of the user.

In: paths. Out: records, captions, examples and YAML data, with their places in the
file.

Readers, adapters and the spec loader import these modules; the modules import only
:mod:`harness.contracts` and :mod:`harness.errors`.
"""
