"""The command `exaequo`, and `python -m exaequo`: an interrupt ends it quietly, even while modules load."""

from __future__ import annotations

import sys

from exaequo.choices import INTERRUPTED


def main() -> None:
    """Run the command and leave with its exit code."""
    try:
        from exaequo.cli import main as command

        command()
    except KeyboardInterrupt:  # of a signal that is known once somebody listens
        heard = getattr(sys.modules.get("exaequo.cli.stopping"), "heard", lambda: 0)
        sys.exit(heard() or INTERRUPTED)
    except SystemExit as stop:
        _at_once(stop.code)
        raise


def _at_once(code: object) -> None:
    """End the process, if nobody looks on or is still at work: to take it apart takes as long as a small command."""
    import atexit
    import os
    import threading

    at_work = [each for each in threading.enumerate() if not each.daemon and each is not threading.main_thread()]
    if at_work or sys.gettrace() or sys.getprofile() or not isinstance(code, int):
        return
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):  # Python says so in its own way
        return
    atexit._run_exitfuncs()
    os._exit(code)


if __name__ == "__main__":
    main()
