"""`exaequo collection`: what a test collection has, and the same in common formats."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from exaequo.choices import TABLE_FORMATS
from exaequo.cli import output
from exaequo.cli.files import DIR, FILE
from exaequo.cli.options import Target, table_option, writes
from exaequo.errors import ExaequoError, UsageError

if TYPE_CHECKING:
    from exaequo.read.collection import Collection

TABLES = {"sizes": "", "grades": "Grades"}
#: What people read, so that a line fits.
_SHORT = {"topics with relevant documents": "topics with relevant ones", "relevant documents": "relevant"}


@click.command()
@click.argument("where")
@click.option("--split", default="test", show_default=True, help="Of judgments and topics, where there are several.")
@click.option("--qrels", type=FILE, help="Write the judgments there, as TREC text.")
@click.option("--topics", type=FILE, help="Write the topics there, as TREC text, or as qid<TAB>title: FILE.tsv.")
@click.option("--save", type=DIR, help="Write all of it there, in the layout of BEIR.")
@table_option(TABLES)
@writes(*TABLE_FORMATS)
def collection(
    where: str,
    split: str,
    qrels: str | None,
    topics: str | None,
    save: str | None,
    only: str | None,
    target: Target,
) -> None:
    """Say what a test collection has: documents, topics, judgments, and what is odd about its files.

    WHERE is a folder or an archive, its files recognised by their content, or a collection that comes with exaequo:
    crossings (English) or crossings-fr.
    """
    target.one_table(only, TABLES)
    output.check_paths((where,), target.path)
    for path in filter(None, (qrels, topics)):
        if Path(path).is_file():
            raise ExaequoError(f"{path}: there is such a file already. Choose a new name.")
    from exaequo.read.collection import read_collection
    from exaequo.read.collection.saving import save as save_collection

    read = read_collection(where, split=split)
    if qrels is not None and read.qrels is None:
        raise UsageError("--qrels writes judgments; this collection has none.")
    if save is not None:
        save_collection(read, save, split=split)
    _write(read, qrels, topics)
    _show(read, [only] if only else list(TABLES), target)


def _write(read: Collection, qrels: str | None, topics: str | None) -> None:
    from exaequo.read.collection.saving import trec_qrels, trec_topics, tsv_topics

    if qrels is not None and read.qrels is not None:
        output.write(trec_qrels(read.qrels), qrels)
    if topics is not None:
        as_text = tsv_topics if topics.lower().endswith(".tsv") else trec_topics
        output.write(as_text(read.topics), topics)


def _show(read: Collection, names: list[str], target: Target) -> None:
    import polars as pl

    from exaequo.read.collection.overview import overview
    from exaequo.tabular import Table, rows

    found = overview(read).tables
    if target.format == "json":
        about = {"name": read.name, "kind": read.kind, "language": read.language, "remarks": read.remarks}
        target.json({**about, **{name: rows(found[name]) for name in names}})
        return
    digits = dict.fromkeys(("min", "median", "mean", "max", "grade"), 1)
    brief = {"sizes": found["sizes"].with_columns(pl.col("what", "counted").replace(_SHORT))}
    tables = {
        name: Table.of(found[name], TABLES[name], brief=brief.get(name), digits=digits).whole(
            [True] * found[name].height
        )
        for name in names
    }
    said = [f"{read.name}: a collection in the format of {read.kind}, language {read.language}"]
    remarks = [f"remark: {remark}" for remark in read.remarks]
    if len(names) > 1:
        target.screen(tables, before=said, after=remarks)
    else:
        target.show(tables)
