"""`exaequo trec_eval`: the drop-in for the official program."""

from __future__ import annotations

import click

from exaequo.cli import output
from exaequo.text import printable


@click.command(
    "trec_eval",
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    short_help="Print what the official trec_eval prints.",
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def trec_eval(arguments: tuple[str, ...]) -> None:
    """Print what the official trec_eval prints; -h says more."""
    from exaequo.trec_eval.command import main

    output.write(main(arguments, lambda mend: output.aside(f"exaequo: {printable(mend)}")), None)
