"""`exaequo judge`: give grades to the documents of a pool, and make qrels of them."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from exaequo.choices import COMPARED, GRADES, JUDGING_RULES, MEASURES, TABLE_FORMATS
from exaequo.cli import output, stopping
from exaequo.cli.files import FILE, Number
from exaequo.cli.options import Files, Target, evaluates, measure_option, reads_files, speaks, writes
from exaequo.cli.replicate import WithMany
from exaequo.errors import ExaequoError, UsageError
from exaequo.language import say, word
from exaequo.text import count

if TYPE_CHECKING:
    import polars as pl

    from exaequo.judging import Record, Work
    from exaequo.judging.effects import Effects

TABLES = {
    "work": "Assessors",
    "agreement": "Agreement of each two assessors, on the documents both judged",
    "confusion": "Documents by the grade of the first (rows) and of the second (columns)",
    "rankings": "Kendall's τ-b between the rankings of systems by each two assessors",
    "verdicts": "Verdicts that change with the assessor: the second against the first",
}


class WithRuns(WithMany):
    """A command whose option `--runs` takes all words up to the next option."""

    many = "--runs"


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is to be done, as it was typed."""

    db: str | None
    name: str | None
    port: int
    opens: bool
    grades: str
    command: str | None
    jobs: int
    timeout: float
    report: bool
    runs: tuple[str, ...]
    measures: tuple[str, ...]
    only: str | None
    rule: str
    by: tuple[str, ...]

    def check(self, paths: tuple[str, ...], path: str | None) -> None:
        """Refuse what cannot be, or would be ignored."""
        if len(paths) not in (1, 2):
            raise UsageError("Name a POOL and a COLLECTION to judge, or the DB of what was judged.")
        begins = len(paths) == 2
        for wrong, why in (
            (begins and self.report, "--report takes the DB alone, without POOL and COLLECTION."),
            (not begins and self.command, "--assessor needs a POOL and a COLLECTION."),
            (not begins and self.db, "The DB is named already; leave --db out."),
            ((self.runs or self.measures or self.only) and not self.report, "--runs, -m and --table are of --report."),
            (self.measures and not self.runs, "-m measures runs; give --runs too."),
            (self.opens and self.command, "--open is of the page; a program needs none."),
            (not begins and not self.report and path is None, "Give -o QRELS to write judgments, or --report."),
        ):
            if wrong:
                raise UsageError(why)


@click.command(cls=WithRuns)
@click.argument("paths", nargs=-1, required=True, metavar="POOL COLLECTION | DB")
@click.option("--db", type=FILE, help="Where decisions are kept.  [default: the name of POOL, with .judged.db]")
@click.option("--name", "--assessor-name", "name", metavar="NAME", help="Of the assessor; a page asks for it.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Of the page.  [default: any free one]")
@click.option("--open", "opens", is_flag=True, help="Open the page in the browser.")
@click.option("--grades", default=GRADES, show_default=True, metavar="0,1,...", help="The scale: digits.")
@click.option(
    "--assessor", "command", metavar="COMMAND", help="Let a program judge: lines of JSON in, one answer each."
)
@click.option("--jobs", type=click.IntRange(1), default=2, show_default=True, help="Processes of it at once.")
@click.option(
    "--timeout", type=Number(0, min_open=True), default=60.0, show_default=True, help="Seconds for an answer."
)
@click.option("--report", is_flag=True, help="Compare the assessors of DB.")
@click.option("--runs", multiple=True, metavar="RUN...", help="Also tell what their grades do to these runs.")
@measure_option("For --runs, as for eval")
@click.option("--table", "only", type=click.Choice(list(TABLES)), help="Give this table of the report alone.")
@click.option(
    "--rule", type=click.Choice(JUDGING_RULES), default=JUDGING_RULES[0], show_default=True, help="Of several grades."
)
@click.option(
    "--by", multiple=True, metavar="NAME", help="Count this assessor; may be repeated.  [default: all people]"
)
@evaluates("seed")
@writes(*TABLE_FORMATS)
@reads_files
@speaks
def judge(paths: tuple[str, ...], options: dict[str, Any], target: Target, files: Files, **given: Any) -> None:
    """Judge the documents of POOL on a page of this machine, or by a program; -o writes qrels.

    POOL is a table with qid and docno, qrels, or a run. Decisions are kept in a file, --db; run the command again to
    go on. DB alone: -o QRELS writes judgments, and beside them, in QRELS.json, who gave them; --report compares
    assessors.
    """
    asked = Asked(**given)
    asked.check(paths, target.path)
    output.check_paths((*paths, *asked.runs), target.path)
    from exaequo.judging import Record

    if asked.report:
        _report(Record(paths[0]), asked, options, target, files)
        return
    record, failed = (Record(paths[0]), 0) if len(paths) == 1 else _judge(paths[0], paths[1], asked, options["seed"])
    if target.path is not None:
        _write(record, target.path, asked)
    record.close()
    if failed:
        without = count(failed, "document")
        raise ExaequoError(f"{without} without a grade. Run the command again to ask about them once more.")


def _write(record: Record, path: str, asked: Asked) -> None:
    from exaequo.judging import write_qrels
    from exaequo.judging.exporting import chosen

    found = write_qrels(record, path, asked.rule, asked.by)
    left_out = sorted({*record.kinds()} - {*chosen(record, asked.by)})
    if left_out:
        output.warn(f"{path}: the grades of {', '.join(left_out)} are not counted; name them with --by")
    tied = sum(each.how == "tied" for each in found)
    if tied:
        what = f"{path}: {count(tied, 'document')} with as many votes for several grades; the highest was taken"
        output.warn(f"{what}. Settle them on the page, or choose --rule")
    output.aside(f"{path}: {count(len(found), 'judgment')}; {path}.json says where they come from.")


# ------------------------------------------------------------------------------------------------------------- judging


def scale_of(text: str) -> tuple[int, ...]:
    """Read a scale: different digits, two or more; each is a key."""
    parts = [part.strip() for part in text.split(",")]
    if len(parts) < 2 or len(set(parts)) < len(parts) or not all(part in "0123456789" and part for part in parts):
        raise UsageError(f"--grades takes two or more different digits, as {GRADES}. Got {text!r}.")
    return tuple(sorted(map(int, parts)))


def _words(command: str | None) -> list[str]:
    """Return the words of a command, as a shell would split them; none if there is no command."""
    if command is None:
        return []
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"--assessor: {error}. Got {command!r}.") from None
    if not words:
        raise UsageError("--assessor is empty; name a program.")
    return words


def _judge(pool: str, collection: str, asked: Asked, seed: int) -> tuple[Record, int]:
    """Judge on the page, or by a program; return the record, and how many documents have no grade of the program."""
    grades, command = scale_of(asked.grades), _words(asked.command)
    from exaequo.judging import Record, work_of
    from exaequo.read.collection import read_collection
    from exaequo.read.source import Source
    from exaequo.scores.formats import versions

    read = read_collection(collection)
    output.warn(*read.remarks)
    work = work_of(pool, read)
    record = Record(asked.db or f"{Source(pool).stem}.judged.db", new=True)
    facts = {"pool": pool, "pool_sha256": work.sha256, "pairs": work.size, "collection": read.name}
    record.start(grades, **facts, seed=seed, command=asked.command, versions=versions())
    if command:
        return record, _ask(record, work, command, asked, seed)
    _serve(record, work, asked, seed)
    return record, 0


def _serve(record: Record, work: Work, asked: Asked, seed: int) -> None:
    from exaequo.judging import serve

    def ready(link: str) -> None:
        where = f"{count(work.size, 'document')} to judge, kept in {record.path}"
        output.show_text(f"{where}. Open, and end with Ctrl-C:\n{link}")
        sys.stdout.flush()
        if asked.opens:
            click.launch(link)

    with stopping.left_to_others():
        serve(work, record, port=asked.port, seed=seed, name=asked.name or "", ready=ready)


def _ask(record: Record, work: Work, command: list[str], asked: Asked, seed: int) -> int:
    from exaequo.judging import ask
    from exaequo.judging.programs import complaints

    name = asked.name or Path(command[0]).name
    with _progress(work.size) as advance:
        done = ask(record, work, command, name, jobs=asked.jobs, timeout=asked.timeout, seed=seed, progress=advance)
    output.warn(*(f"{name}: {each}" for each in complaints(done)))
    before = f", {done.before:,} before" if done.before else ""
    output.aside(f"{name}: {count(done.graded, 'grade')} given{before}; kept in {record.path}.")
    return done.failed


@contextmanager
def _progress(total: int) -> Iterator[Callable[[], None]]:
    """Show a progress bar on a terminal; yield what moves it on."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress

    with Progress(*Progress.get_default_columns(), MofNCompleteColumn(), console=Console(stderr=True)) as progress:
        task = progress.add_task("judging", total=total)
        yield lambda: progress.advance(task)


# ----------------------------------------------------------------------------------------------------------- reporting


def _report(record: Record, asked: Asked, options: dict[str, Any], target: Target, files: Files) -> None:
    """Write how far assessors agree, and what their grades do to runs."""
    from exaequo.judging.agreement import agreement, confusion
    from exaequo.judging.exporting import chosen
    from exaequo.tabular import Table

    target.one_table(asked.only, TABLES)
    names = chosen(record, asked.by or list(record.kinds()))
    judged, work = record.judged(), record.work()
    frames = {
        "work": work.filter(work["assessor"].is_in(names)),
        "agreement": agreement(judged, names),
        "confusion": confusion(judged, names, record.grades),
    }
    found = _effects(judged, names, asked, options, files) if asked.runs else None
    if found is not None:
        frames |= {"rankings": found.rankings, "verdicts": found.verdicts}
        output.warn(*found.warnings)
    if asked.only is not None and asked.only not in frames:
        raise UsageError(f"There is no table {asked.only} without --runs.")
    taus = [column for column in (found.rankings.columns if found else ()) if column.startswith("tau_")]
    measures = {column.removeprefix("tau_") for column in taus}
    brief = _brief(frames)
    if asked.only is None:  # so that a line fits
        brief["work"] = brief["work"].drop("first")
    shown = {
        name: Table.of(frame, say(TABLES[name]), brief=brief.get(name), digits={"seconds": 1}, names=measures)
        for name, frame in frames.items()
        if asked.only in (None, name)
    }
    facts = {"record": record.path, "grades": list(record.grades), "assessors": names}
    show = target.show if asked.only else target.screen
    show(shown, after=_sentences(found), options=facts, warnings=found.warnings if found else ())


def _brief(frames: dict[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Say *all* in the language of readers, and when to the minute."""
    import polars as pl

    everyone = (pl.col("one") == "all") & (pl.col("two") == "all")
    named = pl.when(everyone).then(pl.lit(word("all"))).otherwise(pl.col("one", "two")).name.keep()
    minute = pl.col("first", "last").str.slice(0, 16).str.replace("T", " ")
    return {"work": frames["work"].with_columns(minute), "agreement": frames["agreement"].with_columns(named)}


def _sentences(found: Effects | None) -> list[str]:
    if found is None or not found.pairs:
        return []
    return [
        say("Systems are scored by the {n:,} documents that all these assessors judged.", n=found.shared),
        say(
            "Of {n} verdicts, {changed} {changed:changes|change} with the assessor.",
            n=found.pairs,
            changed=found.changed,
        ),
    ]


def _effects(judged: pl.DataFrame, names: list[str], asked: Asked, options: dict[str, Any], files: Files) -> Effects:
    from exaequo.comparison.plan import Plan
    from exaequo.judging.effects import effects
    from exaequo.measures import parse_measures
    from exaequo.options import Options

    chosen = Options(ties=COMPARED, **options)
    measures = parse_measures(asked.measures or MEASURES)
    return effects(judged, names, list(files.runs(asked.runs)), measures, chosen, Plan(seed=chosen.seed))
