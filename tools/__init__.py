"""Programs for the maintainers of the project; no part of any distribution."""
