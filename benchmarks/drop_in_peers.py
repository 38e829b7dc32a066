"""The peers of ``drop_in``: which lines of each change, and which evaluation is run. As
a module it is the process of one evaluation:

    python -m benchmarks.drop_in_peers PEER COPY INPUTS RESULTS
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import drop_in_entries as entries

TOOLKIT = re.compile(
    r"^(\s*)from pycocoevalcap\.[\w.]+ import "
    r"((?:Bleu|Cider|COCOEvalCap|Meteor|PTBTokenizer|Rouge)(?:, *\w+)*)[ \t]*$"
)
"""A line that imports from the COCO toolkit; SPICE has no replacement."""
KERNELS = r"\1from caption_kernels.coco import \2"
Entry = Callable[[Path, entries.Captions], entries.Numbers]
LEFT_OUT = (".git", "*.mp4", "SODA")
"""Names in a checkout that are not copied."""


@dataclass(frozen=True)
class Change:
    """Lines of one file of a checkout that are replaced."""

    file: str
    pattern: re.Pattern[str] = TOOLKIT
    replacement: str = KERNELS


@dataclass(frozen=True)
class Peer:
    """One program, its changed lines and its evaluation."""

    name: str
    entry: str
    """The evaluation that is run, in words."""
    run: Entry
    """Returns metric -> number; is called in the changed or unchanged copy."""
    changes: Sequence[Change]
    below: str = "."
    """Folder of the copy into which the checkout goes."""
    packages: str = "."
    """Folder of the copy that holds the peer's packages."""
    several: bool = False
    """Each changed file is an evaluation of its own."""

    def copy(self, source: Path, target: Path) -> None:
        """Copy a checkout; link the jars of the installed toolkit where it has none."""
        shutil.copytree(
            source, target / self.below, ignore=shutil.ignore_patterns(*LEFT_OUT)
        )
        if self.below != "pycocoevalcap":
            return
        installed = Path(entries.find_toolkit())
        for name in entries.JARS:
            link = target / self.below / name
            link.parent.mkdir(parents=True, exist_ok=True)
            if not link.exists():
                link.symlink_to(installed / name)

    def files_of_an_entry(self) -> list[set[str]]:
        """Return the changed files of each evaluation."""
        files = [change.file for change in self.changes]
        return [{file} for file in files] if self.several else [set(files)]


def _imported(module: str, replacement: str) -> dict[str, Any]:
    """Return the pattern and the replacement of one line of imports."""
    line = re.compile(rf"^(\s*)from {re.escape(module)} import (\w+)[ \t]*$")
    return {
        "pattern": line,
        "replacement": rf"\1from caption_kernels.drop_ins.{replacement} import \2",
    }


_LMMS_FILES = [f"lmms_eval/tasks/{task}/utils.py" for task in entries.LMMS_TASKS]
_AAC = "src/aac_metrics/functional/evaluate.py"
_REWARDS = "captioning/utils/rewards.py"
PEERS = {
    peer.name: peer
    for peer in (
        Peer(
            "pycocoevalcap",
            "example/coco_eval_example.py",
            entries.run_example,
            [Change("pycocoevalcap/example/coco_eval_example.py")],
            below="pycocoevalcap",
        ),
        Peer(
            "aac-metrics",
            "the command aac-metrics-eval",
            entries.run_aac_metrics,
            packages="src",
            changes=[
                Change(
                    _AAC, **_imported("aac_metrics.functional.meteor", "aac_metrics")
                ),
                Change(
                    _AAC, **_imported("aac_metrics.utils.tokenization", "aac_metrics")
                ),
                Change(
                    "src/aac_metrics/eval.py",
                    re.compile(
                        r"^from aac_metrics\.utils\.checks import "
                        r"check_java_path, check_metric_inputs[ \t]*$"
                    ),
                    "from caption_kernels.drop_ins.aac_metrics import "
                    "check_java_path\\n"
                    "from aac_metrics.utils.checks import check_metric_inputs",
                ),
            ],
        ),
        Peer(
            "lmms-eval",
            "the tasks COCO, Flickr30k, NoCaps and TextCaps",
            entries.run_lmms_eval,
            [Change(file) for file in _LMMS_FILES],
            several=True,
        ),
        Peer(
            "vlmevalkit",
            "ImageCaptionDataset.evaluate (COCO_VAL)",
            entries.run_vlmevalkit,
            [Change("vlmeval/dataset/image_caption.py")],
        ),
        Peer(
            "self-critical",
            "get_self_critical_reward of one batch",
            entries.run_self_critical,
            [
                Change(
                    _REWARDS,
                    **_imported("pyciderevalcap.ciderD.ciderD", "self_critical"),
                ),
                Change(_REWARDS),
            ],
        ),
        Peer(
            "capevalkit",
            "python -m capevalkit.metrics.pycocoevalcap_metrics",
            entries.run_capevalkit,
            [Change("capevalkit/metrics/pycocoevalcap_metrics.py")],
        ),
        Peer(
            "pdvc",
            "densevid_eval3/evaluate2018.py",
            entries.run_densevid,
            [Change("densevid_eval3/evaluate2018.py")],
        ),
    )
}


def main(arguments: Sequence[str]) -> None:
    """Run one evaluation and write its numbers and seconds."""
    name, copy, inputs, results = arguments
    captions = entries.generate_captions(**json.loads(Path(inputs).read_text()))
    started = time.perf_counter()
    numbers = PEERS[name].run(Path(copy), captions)
    seconds = time.perf_counter() - started
    Path(results).write_text(json.dumps({"numbers": numbers, "seconds": seconds}))


if __name__ == "__main__":
    main(sys.argv[1:])
