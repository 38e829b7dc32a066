"""Names of the files that a run writes into its directory."""

from harness.files.outputs import OUTPUTS

MANIFEST = "manifest.json"
RESULTS = "results.json"
SAMPLES = "samples.parquet"
LOG = "log.jsonl"
LOCK = ".lock"
COMPARISONS = "comparisons.json"
SAME = "same.json"
SHARDS = "shards.json"
ARTIFACT_FOLDERS = ("candidates", "scores")
REPORT = "report.html"
COMMIT = "commit.json"
"""File that names the files of :data:`PENDING` that replace those of the directory, and
the files that are removed with them.
"""
PENDING = ".next"
"""Folder of the files that the next commit brings into the directory."""
COMMITTED = (
    MANIFEST,
    RESULTS,
    SAMPLES,
    LOG,
    *ARTIFACT_FOLDERS,
    COMPARISONS,
    SAME,
    SHARDS,
    REPORT,
)
"""Files and folders that a commit may replace or remove: a commit that names another
one was not written by the harness.
"""
RUN_FILES = (*COMMITTED, LOCK, COMMIT, PENDING, OUTPUTS)
"""Everything that a run writes into its directory."""
