"""The report page: finished runs in, one self-contained HTML file out."""

from harness.page.document import PageOptions, build, write

__all__ = ["PageOptions", "build", "write"]
