"""The command `exaequo`, and `python -m exaequo`: an interrupt ends it quietly, even while modules load."""

from __future__ import annotations

import sys

from exaequo.choices import INTERRUPTED


def main() -> None:
    """Run the command and leave with its exit code."""
    try:
        from exaequo.cli import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = INTERRUPTED
    sys.exit(code)


if __name__ == "__main__":
    main()
