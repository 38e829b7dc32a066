"""Registry: names of components to components.

In: manifest files (read as data) and entry points. Out: catalogue entries, component
instances, hook implementations.
"""

from harness.registry.catalogue import (
    Component,
    Registry,
    create,
    current,
    parameters,
    resolve,
    split_spec,
    use_files,
)

__all__ = [
    "Component",
    "Registry",
    "create",
    "current",
    "parameters",
    "resolve",
    "split_spec",
    "use_files",
]
