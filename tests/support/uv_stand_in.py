"""A stand-in for uv, which creates environments without packages."""

from __future__ import annotations

FILES = 20
"""Number of files that the stand-in for uv installs."""
UV = """#!{python}
import os, sys, time
FILES = {files}
if os.environ.get("UV_FAILS"):
    sys.exit("error: No solution found when resolving dependencies")
print(*sys.argv[1:], file=open({log!r}, "a"))
arguments = sys.argv[1:]
def write_slowly(folder):
    for number in range(FILES):
        # It makes again what another process removes.
        os.makedirs(folder, exist_ok=True)
        open(folder + "/module_" + str(number), "w").write(str(os.getppid()))
        time.sleep(float(os.environ.get("UV_PAUSE", 0)))
if arguments[0] == "venv":
    os.makedirs(arguments[-1] + "/bin")
    os.symlink({python!r}, arguments[-1] + "/bin/python")
if arguments[0] == "pip":
    write_slowly(arguments[arguments.index("--python") + 1][:-10] + "lib")
if arguments[0] == "sync":
    os.makedirs(os.environ["UV_PROJECT_ENVIRONMENT"] + "/bin")
"""
"""Source of the program."""
