"""Write the reference of commands, docs/commands.md, from the commands themselves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from click.testing import CliRunner

from exaequo.cli import app

TARGET = Path(__file__).parent.parent / "docs" / "commands.md"
Rows = list[tuple[str, str]]


class _Recorder(click.HelpFormatter):
    """Keeps the lists of a help screen by their headings, so that the page has them as the screen does."""

    def __init__(self) -> None:
        super().__init__(width=10_000)  # nothing is cut short
        self.lists: dict[str, Rows] = {}
        self._heading = ""

    @contextmanager
    def section(self, name: str) -> Iterator[None]:
        self._heading = name
        yield

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:  # noqa: ARG002
        self.lists.setdefault(self._heading, []).extend(
            (term.strip(), about) for term, about in rows if not term.endswith("--help")
        )


def lists_of(command: click.Command, context: click.Context) -> dict[str, Rows]:
    """Return what the help of a command lists, by heading."""
    recorder = _Recorder()
    command.format_options(context, recorder)
    return recorder.lists


def entry(name: str, command: click.Command, context: click.Context) -> Iterator[str]:
    """Yield what there is to say about a command, part by part."""
    yield f"### {name}"
    yield f"`exaequo {name} {' '.join(command.collect_usage_pieces(context))}`"
    yield from prose(command.help or "")
    if command.get_help_option(context) is None:  # it reads its own options, and says itself what they are
        yield block(CliRunner().invoke(command, ["-h"], catch_exceptions=False).output)
        return
    for heading, rows in lists_of(command, context).items():
        if rows:
            yield f"{heading}:"
            yield "\n".join(f"- `{term}`: {plain(about)}" if about else f"- `{term}`" for term, about in rows)
    yield from prose(command.epilog or "")


def prose(text: str) -> Iterator[str]:
    """Yield the paragraphs of a help text; one that must not be wrapped begins with a backspace, and is a block."""
    for paragraph in re.split(r"\n\s*\n", text.partition("\f")[0].strip()):
        if paragraph.startswith("\b"):
            yield block(paragraph.removeprefix("\b"))
        elif paragraph:
            yield plain(" ".join(paragraph.split()))


def block(text: str) -> str:
    """Return text to be shown as it is."""
    return "```\n" + text.strip("\n") + "\n```"


def plain(text: str) -> str:
    """Return text with nothing in it that Markdown would take for a sign."""
    return re.sub(r"([*<_`\\])", r"\\\1", text)


def text() -> str:
    """Return the whole reference, grouped as the help of `exaequo` groups its commands."""
    top = click.Context(app, info_name="exaequo", **app.context_settings)
    lists = lists_of(app, top)
    names = app.list_commands(top)
    groups = {heading: rows for heading, rows in lists.items() if rows and rows[0][0] in names}
    parts = [
        "# Commands",
        "Made from the commands by `scripts/docs`; `exaequo NAME --help` says it too.",
        "\n".join(f"- `{term}`: {plain(about)}" for term, about in lists["Options"]),
    ]
    for heading, rows in groups.items():
        parts.append(f"## {heading}")
        for name, _ in rows:
            command = app.get_command(top, name)
            assert command is not None, name  # noqa: S101 - the help has just listed it
            parts.extend(entry(name, command, click.Context(command, parent=top, info_name=name)))
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
