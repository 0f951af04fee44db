"""`exaequo report`: one page about a set of runs."""

from __future__ import annotations

import shlex
import sys
from typing import Any

import click

from exaequo.choices import COMPARED, MEASURES, PAGE_DOCUMENTS, PAGE_TEXT
from exaequo.cli import output, progress
from exaequo.cli.files import FILE
from exaequo.cli.options import Files, compares, evaluates, measure_option, reads_runs, show_option, speaks
from exaequo.language import say

#: From here on a page is too large to send.
LARGE = 20_000_000


@click.command()
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("-o", "--output", "path", type=FILE, default="report.html", show_default=True, help="The page.")
@measure_option()
@compares()
@show_option(PAGE_DOCUMENTS, "--documents", "Documents of each list to show.", 0)
@click.option("--title", default="", metavar="TEXT", help="The title of the page.")
@click.option("--topics", metavar="FILE", help="Texts of the topics: TREC, JSON lines, TSV, or a folder.")
@click.option("--docs", metavar="FILE", help=f"Texts of documents, of which {PAGE_TEXT} characters each are shown.")
@click.option("--paths", is_flag=True, help="Whole paths of files, not only their names.")
@evaluates("depth", "missing", "precision", "seed")
@reads_runs
@speaks
def report(
    qrels: str,
    runs: tuple[str, ...],
    path: str,
    measures: tuple[str, ...],
    plan: dict[str, Any],
    show: int,
    title: str,
    topics: str | None,
    docs: str | None,
    paths: bool,
    options: dict[str, Any],
    files: Files,
) -> None:
    """Write one page about RUNs: verdict, table, topics, ties, pairs, figures; to send to a colleague.

    The page is a single file without network, and readable without scripts.
    """
    output.check_paths((qrels, *runs, *filter(None, (topics, docs))), path)
    from exaequo.comparison.plan import Plan
    from exaequo.evaluation import judged_runs
    from exaequo.measures import parse_measures
    from exaequo.options import Options
    from exaequo.reporting import Wanted, content_of, page, read_texts
    from exaequo.screens import wrapped

    chosen = Options(ties=COMPARED, **options)
    how = Plan(**plan, seed=chosen.seed)
    asked = shlex.join(["exaequo", *sys.argv[1:]]) if sys.argv[1:2] == ["report"] else ""
    parsed = parse_measures(measures or MEASURES)
    judgments = files.qrels(qrels, digest=True)
    judged = judged_runs(judgments, files.runs(runs, judgments, digest=True), chosen, parsed)
    texts = read_texts(topics, docs)
    wanted = Wanted(documents=show, title=title, texts=texts, paths=paths, command=asked)
    content = content_of(judged, parsed, chosen, how, wanted)
    progress.doing("writing the page")
    text = page(content)
    output.warn(*content.warnings)
    if len(text) > LARGE:
        output.warn(f"{path}: {len(text) / 1e6:.0f} MB; a lower --show makes a smaller page")
    output.write(text, path)
    (output.aside if path == "-" else output.show_text)("\n".join(wrapped([content.verdict], output.room()[0])))
    what = say("one page: {title}", title=content.shown["title"])
    output.wrote(path, f"{what}; {', '.join(each.name for each in parsed)}")
