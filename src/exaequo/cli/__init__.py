"""The command `exaequo`. One file per command; nothing heavy is imported before a command needs it.

Exit codes: 0 done, 1 the data are wrong, 2 the request is wrong, 3 worse and 4 undecided at a gate, 130 interrupted,
143 asked to end.
Data go to standard output, everything else to standard error. There is no traceback without `--debug`.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from collections import UserDict
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from exaequo import __version__
from exaequo.choices import INTERRUPTED
from exaequo.cli import output, progress, stopping
from exaequo.errors import ExaequoError
from exaequo.text import printable

#: Errors of writing, wherever that is.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
#: The commands by what they are for, each with a sentence.
SECTIONS = {
    "Score": {
        "eval": "Score runs against judgments.",
        "filter": "Judge filters, which select documents by a threshold.",
        "trec_eval": "Print what the official trec_eval prints.",
        "measures": "List the measures, or say all about one.",
    },
    "Compare": {
        "compare": "Tell which runs are really better.",
        "gate": "Let a release pass unless it is worse.",
        "replicate": "Tell how far reproductions agree with originals.",
        "budget": "Tell how far scores can be trusted.",
    },
    "Show": {
        "explain": "Show step by step how a value comes about.",
        "plot": "Draw a figure.",
        "report": "Write one page about runs, to send to a colleague.",
    },
    "Ties": {
        "ties": "Tell how much of each score is luck.",
        "order": "Write a run with its ties in order.",
        "study": "Tell what ties did to a whole archive of runs.",
    },
    "Files": {
        "check": "List every problem of files.",
        "metadata": "Show or write the header of a run.",
        "collection": "Tell what a test collection has.",
    },
    "Experiment": {
        "demo": "Run eight systems on a collection that comes along.",
        "search": "Search a collection, and write the lists as a run.",
        "experiment": "Run systems on a collection: scores and costs.",
        "pool": "Choose the documents to judge.",
        "judge": "Judge documents on a page, or by a program.",
        "unjudged": "Tell how far scores depend on unjudged documents.",
        "design": "Tell how many topics a collection needs.",
    },
}


class _Commands(UserDict[str, Any]):
    """Commands by name; the file of one is imported when it is asked for."""

    def __getitem__(self, name: str) -> click.Command:
        if self.data[name] is None:
            home = import_module(f"{__name__}.{name}")
            self.data[name] = getattr(home, f"{name}_" if hasattr(home, f"{name}_") else name)
        command: click.Command = self.data[name]
        return command


class _Sections(click.Group):
    """A group whose help lists the commands by section; one of no section stands at the end."""

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        known = {name for commands in SECTIONS.values() for name in commands}
        rest = {name: self.commands[name].get_short_help_str() for name in self.commands if name not in known}
        for title, commands in (SECTIONS | ({"More": rest} if rest else {})).items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:<10}", about) for name, about in commands.items()])


_COMMANDS = _Commands({name: None for commands in SECTIONS.values() for name in commands})


@click.group(cls=_Sections, commands=_COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="exaequo")
@click.option("--debug", is_flag=True, help="Show a traceback when something fails.")
def app(debug: bool) -> None:
    """Evaluate ranked retrieval fairly: scores that do not depend on the names of tied documents."""


def _said(error: Exception) -> str:
    """Return what to say of an error that nobody foresaw; files other than standard output name themselves."""
    if isinstance(error, OSError) and error.errno in _FULL and error.filename is None:
        return f"standard output: cannot write ({error.strerror})."
    return f"unexpected {type(error).__name__}: {printable(str(error))}\nRun it with --debug for more."


def main() -> None:
    """Run the command and leave with its exit code."""
    stopping.listen()
    stopping.leave(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run the command; return its exit code."""
    debug = "--debug" in arguments
    asked = [argument for argument in arguments if argument != "--debug"]
    try:
        with progress.shown(" ".join(["exaequo", *asked[:1]])):
            code = app.main(asked, "exaequo", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except SystemExit as stop:  # click ends the program itself when its reader has seen enough
        return 0 if "PacifyFlush" in type(sys.stdout).__name__ else int(stop.code or 0)
    except click.ClickException as error:
        shown = io.StringIO()
        error.show(shown)
        output.aside(shown.getvalue().removesuffix("\n"))
        return error.exit_code
    except ExaequoError as error:
        if debug:
            raise
        output.aside(f"exaequo: {printable(str(error))}")
        return error.exit_code
    except Exception as error:
        if stopping.heard():  # a library may make another error of an interrupt
            return stopping.heard()
        if debug:
            raise
        output.aside(f"exaequo: {_said(error)}")
        return 1
    return code if isinstance(code, int) else 0
