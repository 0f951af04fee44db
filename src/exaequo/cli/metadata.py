"""`exaequo metadata`: the header of a run, shown or written."""

from __future__ import annotations

import click

from exaequo.cli import output
from exaequo.cli.options import Target, writes
from exaequo.errors import UsageError, bad_input


@click.command()
@click.argument("run")
@click.option("--with", "file", metavar="FILE.yaml", help="Write RUN with this header in place of its own.")
@click.option("--fill", is_flag=True, help="Write RUN with what its header lacks: the schema version and the tag.")
@writes("yaml", "json")
def metadata(run: str, file: str | None, fill: bool, target: Target) -> None:
    """Show what the header of RUN says: metadata as YAML in comments, after ir_metadata.

    With --with or --fill, RUN is written to the file after -o; its lines stay as they are.
    """
    output.check_paths((run, *([file] if file else [])), target.path)
    from exaequo.read.metadata import START, header_of, parse_metadata, plain_values
    from exaequo.read.source import load

    data, source = load(run)
    text, _ = header_of(data, source.name)
    if file or fill:
        if target.path is None or target.format == "json":
            raise UsageError("--with and --fill write a run: name its file with -o, without --json.")
        _write(source.name, data, _text(file) if file else text, fill, target.path)
        return
    if not text:
        mend = "Write one: exaequo metadata RUN --with FILE.yaml -o OUT"
        raise bad_input(source.name, "there is no header", f"{START!r} in the first line", mend)
    known = parse_metadata(text, source.name)  # what is shown can be read
    if target.format == "json":
        target.json({"metadata": plain_values(known)})
    else:
        target.text(text.rstrip("\n"))


def _text(path: str) -> str:
    """Read a file of YAML."""
    from exaequo.read.source import load

    data, source = load(path)
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise bad_input(source.name, "the file is not UTF-8", "YAML", "Convert it: iconv -f LATIN1 -t UTF-8") from None


def _write(name: str, data: bytes, text: str, fill: bool, path: str) -> None:
    """Write a run with a header, filled up if asked."""
    from exaequo.read import trec
    from exaequo.read.metadata import SCHEMA, dump, parse_metadata, refuse_packed, with_header

    refuse_packed(path)
    if fill:
        known = parse_metadata(text, name)
        knows = {"schema-version": SCHEMA, "tag": trec.parse(data, trec.RUN, name)["run_id"][0]}
        lacks = {key: value for key, value in knows.items() if key not in known}
        text = (dump(lacks) if lacks else "") + text
    output.write(with_header(data, text, name), path)
