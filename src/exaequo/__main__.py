"""`python -m exaequo`: the same as the command."""

from exaequo.cli import main

if __name__ == "__main__":
    main()
