"""`python -m exaequo`, and the command: nothing is imported before an interrupt would be heard."""

import sys


def main() -> None:
    """Run the command; interrupted while its modules load, it is as quiet as later."""
    try:
        from exaequo.cli import main as command

        command()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
