"""Maps the four top-level folders into the one ``harness`` namespace.

Everything declarative lives in pyproject.toml; only the package map is computed
here, because ``plugins/``, ``adapters/`` and ``tasks/`` are import packages
``harness.plugins``, ``harness.adapters`` and ``harness.tasks``.
"""

from setuptools import find_packages, setup

MAPPED = {"harness.plugins": "plugins", "harness.adapters": "adapters", "harness.tasks": "tasks"}

packages = ["harness", *(f"harness.{name}" for name in find_packages("harness"))]
for import_name, folder in MAPPED.items():
    packages.append(import_name)
    packages.extend(f"{import_name}.{name}" for name in find_packages(folder))

package_dir = {"harness": "harness", **MAPPED}
setup(packages=packages, package_dir=package_dir)
