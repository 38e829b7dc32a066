"""The report page: finished runs in, one self-contained HTML file out."""

from harness.reporting.page.document import PageOptions, build, plugin_sections, template_environment, write, write_page

__all__ = ["PageOptions", "build", "plugin_sections", "template_environment", "write", "write_page"]
