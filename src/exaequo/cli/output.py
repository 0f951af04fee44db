"""Where output goes: whole files or none, data as UTF-8, warnings and progress to standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

import click

from exaequo.choices import STDIN
from exaequo.cli import progress
from exaequo.errors import ExaequoError, UsageError
from exaequo.language import say
from exaequo.text import on_screen, printable

#: One screen has so many lines; a line is left for the prompt.
LEAST_LINES, MOST_LINES = 23, 40


def write(content: str | bytes, path: str | None) -> None:
    """Write to a file, which appears whole or not at all, or to standard output.

    On a terminal, where nobody reads on, what could command it is escaped; files and pipes get what there is.
    """
    progress.hide()
    data = content.encode(errors="surrogateescape") if isinstance(content, str) else content
    if path is not None and path != STDIN:
        from exaequo.writing import write_whole

        write_whole(path, data)
        return
    stream = _stdout()
    if stream.isatty():
        data = printable(data.decode(errors="backslashreplace")).encode()
    stream.flush()
    stream.buffer.write(data)
    stream.buffer.flush()


def _stdout() -> TextIO:
    if sys.stdout is None:
        raise ExaequoError("standard output is closed.")
    return sys.stdout


def warn(*messages: str) -> None:
    """Give warnings; work goes on."""
    for message in messages:
        aside(f"exaequo: warning: {printable(message)}")


def aside(text: object) -> None:
    """Say something beside the results: on standard error, safe for a terminal."""
    line = on_screen(str(text))
    if not progress.above(line):
        click.echo(line, err=True)


#: What stands for signs of ours where the terminal has no Unicode; those of tables are as wide as the sign.
_PLAIN = str.maketrans(
    dict(zip("·–−≈±×●├─┤▲▼◊", "|--~~xo|-|^v?", strict=True))
    | {"…": "...", "→": "->", "≥": ">=", "≤": "<=", "\xa0": " ", "τ": "tau", "α": "alpha", "κ": "kappa", "Δ": "d"}
)


def show_text(text: str) -> None:
    """Print text for people; what the terminal cannot show is said otherwise, or escaped."""
    progress.hide()
    encoding, text = _stdout().encoding or "utf-8", on_screen(text)
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = text.translate(_PLAIN).encode(encoding, "backslashreplace").decode(encoding)
    click.echo(text)


def colour() -> bool:
    """Tell whether to use colour: on a terminal that can, unless NO_COLOR is set."""
    return _on_a_terminal() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def width() -> int:
    """Return the width of the terminal, or 0 where there is none and lines may be long."""
    from shutil import get_terminal_size

    return get_terminal_size().columns if _on_a_terminal() else 0


def _on_a_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def room() -> tuple[int, int]:
    """Return the columns and lines of one screen; elsewhere than on a terminal, those of a page."""
    from shutil import get_terminal_size  # takes a while to load, and some commands need it never

    columns, lines = get_terminal_size((80, MOST_LINES))
    return columns, min(max(lines - 1, LEAST_LINES), MOST_LINES)


def wrote(path: str | None, what: str) -> None:
    """Say what was written to a file, and how large it is; nothing where it went to standard output."""
    if path is None or path == STDIN:
        return
    size = max(1, round(Path(path).stat().st_size / 1000))
    aside(printable(say("{path}: {size:,} kB, {what}", path=path, size=size, what=what)))


def check_paths(paths: Sequence[str], out: str | None = None) -> None:
    """Standard input can be read once, and a file that is read is not written over."""
    if sum(path == STDIN for path in paths) > 1:
        raise UsageError("Standard input (-) can stand for one file only.")
    if out is None or out == STDIN:
        return
    if not out or "\0" in out:
        raise UsageError(f"No file has the name {out!r}; -o takes the name of one.")
    for path in paths:
        if path != STDIN and "\0" not in path and os.path.realpath(path) == os.path.realpath(out):
            raise UsageError(f"{out} would be written over; it is one of the files to read.")
    folder = Path(os.path.realpath(out)).parent
    if not os.access(out, os.F_OK) and not (folder.is_dir() and os.access(folder, os.W_OK)):  # before the work
        raise ExaequoError(f"{out}: cannot write ({'no such folder' if not folder.is_dir() else 'not allowed'}).")
