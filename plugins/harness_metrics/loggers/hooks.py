"""The variable ``HARNESS_LOGGERS`` belongs to a plugin of its own
(``examples/loggers``); a run without it says how to install it.
"""

from __future__ import annotations

import importlib.util
import os

from harness.contracts import Values
from harness.errors import MissingExtra
from harness.registry.hooks import hookimpl

VARIABLE = "HARNESS_LOGGERS"
PLUGIN = (
    "git+https://github.com/caption-harness/caption-harness"
    "#subdirectory=examples/loggers"
)
"""Address of the plugin, as pip takes it."""


@hookimpl
def harness_run_started(manifest: Values) -> None:
    """Raise :class:`MissingExtra` where loggers are requested and the plugin that has
    them is not installed.
    """
    if os.environ.get(VARIABLE) and importlib.util.find_spec("caption_loggers") is None:
        raise MissingExtra(
            f"{VARIABLE} needs the plugin caption-loggers, which is not installed: "
            f"pip install '{PLUGIN}'"
        )
