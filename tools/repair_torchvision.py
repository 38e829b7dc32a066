"""Make an installed torchvision importable beside a torch without CUDA.

    python -m tools.repair_torchvision

The wheels of torchvision on PyPI are built against torch with CUDA. Beside another
build of torch their compiled library does not load, and the import fails because it
describes two operators of that library: "operator torchvision::nms does not exist".
open_clip, timm and transformers import torchvision for its transforms of images, which
need no such library. Declaring the two operators is enough; calling them still raises.
Where torchvision works, or is not installed, nothing is changed.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

MARK = "# Added by tools/repair_torchvision.py of caption-harness."
ADDITION = f"""

{MARK}
if not _has_ops():
    _operators = torch.library.Library("torchvision", "FRAGMENT")
    _operators.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    _operators.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
"""


def import_error() -> str:
    """Return the last line of what ``import torchvision`` prints in a new process;
    empty where it works.
    """
    done = subprocess.run(
        [sys.executable, "-c", "import torchvision"],
        capture_output=True,
        text=True,
        check=False,
    )
    return (
        ""
        if done.returncode == 0
        else (done.stderr.strip().splitlines() or ["no message"])[-1]
    )


def main() -> int:
    """Repair the installed torchvision; the exit status is 1 where it still cannot be
    imported.
    """
    spec = importlib.util.find_spec("torchvision")
    if spec is None or spec.origin is None or not (error := import_error()):
        return 0
    # torchvision imports this module before it describes the operators.
    extension = Path(spec.origin).with_name("extension.py")
    text = extension.read_text("utf-8") if extension.is_file() else MARK
    if "torchvision::nms" in error and MARK not in text:
        extension.write_text(text + ADDITION, "utf-8")
        error = import_error()
    if error:
        print(f"torchvision cannot be imported: {error}", file=sys.stderr)
        return 1
    print(
        "  torchvision, whose wheel is built for torch with CUDA, "
        "works without its compiled operators"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
