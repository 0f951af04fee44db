"""Run a program on the drop-ins, unchanged: `python -m exaequo.compat script.py …` or `… -m module …`."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from exaequo.compat import install

USAGE = "usage: python -m exaequo.compat SCRIPT [ARGUMENTS], or python -m exaequo.compat -m MODULE [ARGUMENTS]\n"


def main(words: list[str]) -> None:
    """Take the words after the name of this module, and run what they say as Python would."""
    as_module = words[:1] == ["-m"]
    words = words[as_module:]
    if not words or words[0].startswith("-"):
        sys.stderr.write(USAGE)
        raise SystemExit(2)
    if not as_module and not Path(words[0]).is_file():
        sys.stderr.write(f"{words[0]}: no such file; expected a script.\n{USAGE}")
        raise SystemExit(1)
    install()
    sys.argv = words
    if not sys.flags.safe_path:
        sys.path.insert(0, "" if as_module else str(Path(words[0]).resolve().parent))
    if as_module:
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
