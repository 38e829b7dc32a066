"""Registry: names of components to components.

In: manifest files (read as data) and entry points. Out: catalogue entries, component
instances, hook implementations.
"""

from harness.contracts.parameters import parameters
from harness.registry.catalogue import Component, Registry
from harness.registry.in_use import create, current, resolve, split_spec, use_files

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
