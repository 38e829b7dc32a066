"""A hook that prints one line per finished run where the variable SUBTITLES_SUMMARY is
set.
"""

import os

import harness


@harness.hookimpl
def harness_run_finished(manifest, results):
    if os.environ.get("SUBTITLES_SUMMARY"):
        print(
            f"{manifest['task']}: "
            + ", ".join(
                f"{record['metric']} {record['value']:.3f}" for record in results
            )
        )
