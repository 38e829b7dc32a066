"""The report page: finished runs in, one self-contained HTML file out."""

from harness.reporting.page.document import Options, build, write

__all__ = ["Options", "build", "write"]
