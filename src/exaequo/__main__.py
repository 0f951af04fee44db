"""The command `exaequo`, and `python -m exaequo`: an interrupt ends it quietly, even while modules load."""

from __future__ import annotations

import sys

from exaequo.choices import INTERRUPTED


def main() -> None:
    """Run the command and leave with its exit code."""
    try:
        from exaequo.cli import main as command

        command()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
