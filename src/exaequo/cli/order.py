"""`exaequo order`: a run as a strategy orders it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from exaequo.choices import MEASURES, TABLE_FORMATS
from exaequo.cli import output
from exaequo.cli.options import Files, Target, evaluates, measure_option, reads_files, speaks, ties_option, writes
from exaequo.language import say

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

    from exaequo.order import Ranking
    from exaequo.read import Qrels, Run
    from exaequo.tabular import Table

#: Documents of each list that are shown beside the scores of a renamed one.
SHOWN = 10


@click.command()
@click.argument("qrels")
@click.argument("run")
@ties_option()
@click.option("--topic", "topics", multiple=True, metavar="TOPIC", help="Only this topic; may be repeated.")
@click.option("--rename", multiple=True, metavar="OLD=NEW", help="Rename a document, and show what that does.")
@measure_option("For --rename")
@click.option(
    "--show",
    type=click.IntRange(1),
    metavar="N",
    help="Documents of each list to show in tables.  [default: all; with --rename 10, and the renamed]",
)
@evaluates("depth", "precision", "seed")
@writes("run", *TABLE_FORMATS, default="run; table with --rename")
@reads_files
@speaks
def order(
    qrels: str,
    run: str,
    ties: str,
    topics: tuple[str, ...],
    rename: tuple[str, ...],
    measures: tuple[str, ...],
    show: int | None,
    options: dict[str, Any],
    target: Target,
    files: Files,
) -> None:
    """Write RUN with its ties in order: as a run, or as a table with the judgment, precision and recall of each rank.

    With --rename it shows the lists before and after, and what the new name does to the scores.
    """
    output.check_paths((qrels, run), target.path)
    from exaequo.evaluation import judged_runs, prepared
    from exaequo.listing import as_run, parse_renames, renamed, table, with_topics_of
    from exaequo.options import Options
    from exaequo.tabular import Table

    chosen = Options(**options)
    judged, lines = files.qrels(qrels), files.run(run)

    def ranked(judged: Qrels, lines: Run) -> Ranking:
        judgments = prepared(with_topics_of(judged, lines), chosen, every=True)
        ((ordering, _),) = judged_runs(judgments, [lines], chosen)
        ranking = ordering.ranking(ties, seed=chosen.seed, depth=chosen.depth)
        return _only(ranking, topics) if topics else ranking

    before = ranked(judged, lines)
    renames = parse_renames(rename)
    target = replace(target, format=target.format or ("table" if renames else "run"))
    after = ranked(*renamed(judged, lines, renames)) if renames else before
    if renames and target.format not in ("run", "csv", "json"):
        tables = _comparison(before, after, renames, measures or MEASURES, show or SHOWN)
        nowhere = say("No list that is shown has a renamed document.")
        target.show(tables, before=[] if tables["scores"].frame.height else [nowhere])
    elif target.format == "run":
        output.write(as_run(after, after.lines.run.name), target.path)
    else:
        documents = table(after)
        target.show({"documents": Table.of(documents, brief=_first(documents, show))})


def _only(ranking: Ranking, topics: tuple[str, ...]) -> Ranking:
    from exaequo.errors import UsageError
    from exaequo.text import did_you_mean

    known = ranking.judgments.topics
    for topic in topics:
        if topic not in known:
            raise UsageError(f"There is no topic {topic!r} in the judgments{did_you_mean(topic, known) or '.'}")
    return ranking.part(known.is_in(list(topics)).to_numpy()[ranking.topic])


def _first(documents: pl.DataFrame, show: int | None, also: Iterable[str] = ()) -> pl.DataFrame:
    """Return the first documents of each list, and these."""
    if show is None:
        return documents
    return documents.filter((documents["rank"] <= show) | documents["docno"].is_in(list(also)))


def _comparison(
    before: Ranking, after: Ranking, renames: dict[str, str], measures: tuple[str, ...], show: int
) -> dict[str, Table]:
    """Return the scores of the lists that have a renamed document, and so many of their documents, before and after."""
    import numpy as np
    import polars as pl

    from exaequo.listing import table
    from exaequo.measures import parse_measures
    from exaequo.tabular import Table

    touched = np.zeros(before.n_topics, dtype=bool)
    names = before.lines.run.frame["docno"][before.row]
    touched[before.topic[names.is_in(list(renames)).to_numpy()]] = True
    before, after = (each.part(touched[each.topic]) for each in (before, after))
    said = ", ".join(say("{old} is called {new}", old=old, new=new) for old, new in renames.items())
    rows: list[tuple[str, str, float, float]] = []
    for measure in parse_measures(measures):
        one, two = measure.values(before), measure.values(after)
        topics = np.flatnonzero(touched).tolist()
        rows += [(before.judgments.topics[at], measure.name, float(one[at]), float(two[at])) for at in topics]
    scores = pl.DataFrame(rows, schema=["topic", "measure", "before", "after"], orient="row")
    lists = {
        name: (ranked, _first(ranked, show, {*renames, *renames.values()}))
        for name, ranked in (("before", table(before)), ("after", table(after)))
    }
    titles = {"before": say("Before"), "after": say("After: {said}", said=said)}
    return {
        "scores": Table.of(scores),
        **{name: Table.of(whole, titles[name], brief=brief) for name, (whole, brief) in lists.items()},
    }
