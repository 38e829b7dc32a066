"""Become a program that ends with its parent: run as a script, in an interpreter of
its own, ``launcher.py PARENT BYTES PROGRAM ARGUMENT...``.

On Linux the system ends the process with the thread that started it (PARENT is its
process, or 0 for no such bond). BYTES above 0 limits its memory.
"""

import contextlib
import os
import resource
import signal
import sys

PR_SET_PDEATHSIG = 1
"""Option of prctl(2)."""


def main() -> None:
    """Set the bond and the limit, and replace this process by the program."""
    parent, limit = int(sys.argv[1]), int(sys.argv[2])
    command = sys.argv[3:]
    if parent and sys.platform == "linux":
        import ctypes

        # A C library without prctl: the end of its input ends the program.
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        # The parent may have ended before.
        if os.getppid() != parent:
            sys.exit(1)
    if limit:
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    # Python ignores it, and an ignored signal would stay so in the program.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        os.execv(command[0], command)
    except OSError as error:
        sys.exit(f"{command[0]}: {error.strerror}")


if __name__ == "__main__":
    main()
