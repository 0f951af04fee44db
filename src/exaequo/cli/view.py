"""What a first screen shows of a result: `--sort`, `--top`, `--full`. In: options. Out: a `View`."""

from __future__ import annotations

from dataclasses import dataclass

import click

from exaequo.cli.files import gathers
from exaequo.cli.options import Target
from exaequo.errors import UsageError


@dataclass(frozen=True)
class View:
    """What stands on the first screen of a result, unless all of it is wanted."""

    sort: str | None
    top: int | None
    full: bool

    def first(self, target: Target, *, other: bool = False, tops: bool = False) -> bool:
        """Tell whether the first screen is wanted: text for standard output, and nothing `other` was asked for.

        `tops` says that other tables have a top, too.
        """
        wanted = target.format == "table" and target.path is None and not self.full and not other
        asked = [name for name in ("sort", "top") if getattr(self, name) is not None and not (tops and name == "top")]
        if asked and not wanted:
            raise UsageError(f"--{asked[0]} is for the first screen: leave --full, --table, -q, --format and -o out.")
        return wanted


#: Adds the options of commands that answer on one screen; the command gets them as `view`.
views = gathers(
    "view",
    View,
    {
        "sort": click.option("--sort", metavar="MEASURE|name", help="What runs are ranked by.  [default: the first]"),
        "top": click.option("--top", type=click.IntRange(0), metavar="N", help="Show N runs.  [default: as fits]"),
        "full": click.option("--full", is_flag=True, help="Print all there is, not one screen."),
    },
)
