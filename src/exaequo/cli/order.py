"""`exaequo order`: a run as a strategy orders it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from exaequo.choices import ORDER_MEASURES, PRECISIONS, STRATEGIES
from exaequo.cli import output
from exaequo.cli.options import Files, judges_relevance, reads_files

if TYPE_CHECKING:
    from exaequo.order import Ranking
    from exaequo.read import Qrels, Run

FORMAT = 1


@click.command()
@click.argument("qrels")
@click.argument("run")
@click.option("--ties", type=click.Choice(STRATEGIES), default="realistic", show_default=True)
@click.option("--topic", "topics", multiple=True, metavar="TOPIC", help="Only this topic; may be repeated.")
@click.option("--depth", type=click.IntRange(1), metavar="N", help="Cut each list at N, after ordering.")
@click.option("--rename", multiple=True, metavar="OLD=NEW", help="Rename a document, and show what that does.")
@click.option("-m", "--measure", "measures", multiple=True, metavar="MEASURE", help="For --rename.  [default: RR, AP]")
@judges_relevance
@click.option("--precision", type=click.Choice(PRECISIONS), default="double", show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="For --ties random.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["run", "table", "csv", "json"]),
    help="[default: run; table with --rename]",
)
@click.option("-o", "--output", "path", metavar="FILE", help="Write there instead of to standard output.")
@reads_files
def order(
    qrels: str,
    run: str,
    ties: str,
    topics: tuple[str, ...],
    depth: int | None,
    rename: tuple[str, ...],
    measures: tuple[str, ...],
    rel_level: float | None,
    max_grade: float,
    precision: str,
    seed: int,
    format_: str | None,
    path: str | None,
    files: Files,
) -> None:
    """Write RUN with its ties in order: as a run, or as a table with the judgment, precision and recall of each rank.

    With --rename it shows the lists before and after, and what the new name does to the scores.
    """
    output.check_paths((qrels, run), path)
    from exaequo.evaluation import judged_runs, prepared
    from exaequo.listing import parse_renames, renamed, with_topics_of
    from exaequo.options import Options

    options = Options(rel_level=rel_level, max_grade=max_grade, precision=precision)
    judged, lines = files.qrels(qrels), files.run(run)

    def ranked(judged: Qrels, lines: Run) -> Ranking:
        judgments = prepared(with_topics_of(judged, lines), options, every=True)
        ((ordering, _),) = judged_runs(judgments, [lines], options)
        ranking = ordering.ranking(ties, seed=seed, depth=depth)
        return _only(ranking, topics) if topics else ranking

    before = ranked(judged, lines)
    renames = parse_renames(rename)
    if renames:
        after = ranked(*renamed(judged, lines, renames))
        if format_ in (None, "table"):
            output.write(_comparison(before, after, renames, measures or ORDER_MEASURES), path)
            return
        before = after
    output.write(_written(before, format_ or "run"), path)


def _only(ranking: Ranking, topics: tuple[str, ...]) -> Ranking:
    from exaequo.errors import UsageError
    from exaequo.text import did_you_mean

    known = ranking.judgments.topics
    for topic in topics:
        if topic not in known:
            raise UsageError(f"There is no topic {topic!r} in the judgments{did_you_mean(topic, known) or '.'}")
    return ranking.part(known.is_in(list(topics)).to_numpy()[ranking.topic])


def _written(ranking: Ranking, format_: str) -> str:
    from exaequo import tabular
    from exaequo.listing import as_run, table

    if format_ == "run":
        return as_run(ranking, ranking.lines.run.name)
    frame = table(ranking)
    if format_ == "json":
        import json

        return json.dumps({"format": FORMAT, "documents": tabular.rows(frame)}, indent=1, ensure_ascii=False) + "\n"
    return frame.write_csv() if format_ == "csv" else tabular.text(frame) + "\n"


def _comparison(before: Ranking, after: Ranking, renames: dict[str, str], measures: tuple[str, ...]) -> str:
    """Show the lists that have a renamed document, before and after, and their scores."""
    import numpy as np
    import polars as pl

    from exaequo import tabular
    from exaequo.listing import table
    from exaequo.measures import parse_measures

    touched = np.zeros(before.n_topics, dtype=bool)
    names = before.lines.run.frame["docno"][before.row]
    touched[before.topic[names.is_in(list(renames)).to_numpy()]] = True
    before, after = (each.part(touched[each.topic]) for each in (before, after))
    said = ", ".join(f"{old} is called {new}" for old, new in renames.items())
    rows: list[tuple[str, str, float, float]] = []
    for measure in parse_measures(measures):
        one, two = measure.values(before), measure.values(after)
        topics = np.flatnonzero(touched).tolist()
        rows += [(before.judgments.topics[at], measure.name, float(one[at]), float(two[at])) for at in topics]
    scores = pl.DataFrame(rows, schema=["topic", "measure", "before", "after"], orient="row")
    parts = ["Before", tabular.text(table(before)), f"After: {said}", tabular.text(table(after)), tabular.text(scores)]
    return "\n\n".join(parts) + "\n"
