"""`exaequo filter`: binary filters, judged by what they select."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from exaequo.choices import HIGHEST_GRADE, LEARNT_BY, LEARNT_FOR, STDIN, TABLE_FORMATS, UTILITIES
from exaequo.cli import output
from exaequo.cli.compare import show_comparison
from exaequo.cli.files import Number
from exaequo.cli.options import (
    Files,
    Target,
    compares,
    evaluates,
    measure_option,
    reads_files,
    speaks,
    table_option,
    writes,
)
from exaequo.errors import UsageError
from exaequo.language import say

if TYPE_CHECKING:
    from exaequo.filtering import Filter, Learnt
    from exaequo.filtering.views import Setting, Shown
    from exaequo.measures import Measure

#: Options that are fields of `Setting`.
_SETTING = "threshold docs beta hull average per_theme window by".split()
#: The tables of a comparison that are made of the figures of themes alone.
_TABLES = "systems pairs extremes correlations taus inversions topics contrasts".split()
#: The figures of the first screen.
_FIRST = "run theme N relevant precision recall F utility hull chosen_F".split()
#: Options that not every table takes; the empty name is the table at a threshold.
_TAKEN = {
    **dict.fromkeys("measures only baseline test correction alpha samples".split(), ("--compare",)),
    **dict.fromkeys(("threshold", "train", "t9"), ("", "--stream", "--compare")),
    "window": ("--stream",),
    "hull": ("", "--compare"),
    "full": ("",),
    "average": ("", "--sweep", "--curve"),
    "per_theme": ("", "--sweep", "--curve", "--stream"),
}


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Which table is asked for, and where thresholds are learnt."""

    sweep: bool
    curve: str | None
    stream: bool
    compare: bool
    train: tuple[str, ...]
    train_qrels: str | None
    learn: str
    only: str | None
    measures: tuple[str, ...]
    full: bool

    def first(self, setting: Setting, target: Target) -> bool:
        """Tell whether the first screen is wanted: figures at a threshold, on standard output."""
        other = self.sweep or self.curve or self.stream or setting.per_theme or self.full
        return target.format == "table" and target.path is None and not other

    def check(self, setting: Setting) -> None:
        """Refuse what cannot be, or would be ignored."""
        from exaequo.measures import PARAMETERS

        modes = {"--sweep": self.sweep, "--curve": self.curve, "--stream": self.stream, "--compare": self.compare}
        chosen = [name for name, is_asked in modes.items() if is_asked]
        table = chosen[0] if chosen else ""
        if len(chosen) > 1:
            raise UsageError(f"{' and '.join(chosen)} are different tables; ask for one.")
        _refuse_ignored(table, learns=bool(self.train))
        summed = table in ("--sweep", "--curve") and setting.average in ("micro", "both")
        no_micro = "has no micro-average: curves, UAP and break-even of themes cannot be added up"
        two = table in ("--sweep", "--compare") and len(setting.utility) > 2
        for wrong, why in (
            (summed, f"{table} {no_micro}."),
            (self.curve == "raw" and setting.average, "--curve raw is of each theme; leave --average out."),
            (self.train and setting.threshold is not None, "--train learns the threshold; leave --threshold out."),
            (two, f"{table} takes a utility of two numbers."),
            (setting.hull and setting.utility[1] >= 0, "--hull needs a utility whose second number is below 0."),
            (not PARAMETERS["beta"].accepts(setting.beta), f"--beta must be {PARAMETERS['beta'].expected}."),
        ):
            if wrong:
                raise UsageError(why)


def _refuse_ignored(table: str, *, learns: bool) -> None:
    """Refuse options that were typed and that this table would ignore, and how to learn where nothing is learnt."""
    context = click.get_current_context()
    for option in context.command.params:
        own, name = option.name or "", max(option.opts, key=len)
        taken = _TAKEN.get(own, (table,))
        if context.get_parameter_source(own) is not ParameterSource.COMMANDLINE:
            continue
        if own in ("learn", "by", "train_qrels") and not learns:
            raise UsageError(f"{name} says how to learn; give --train too.")
        if table not in taken and "" in taken:
            raise UsageError(f"{table} takes no {name}; leave {name} out.")
        if table not in taken:
            raise UsageError(f"{name} is of {taken[0]}; give {taken[0]} too.")


@click.command("filter")
@click.argument("paths", nargs=-1, required=True, metavar="QRELS RUN... | TABLE...")
@click.option("--threshold", type=float, metavar="T", help="Scores from here on are selected.  [default: 0.5]")
@click.option("--sweep", is_flag=True, help="Try every threshold: 11 points, UAP, break-even, best F and utility.")
@click.option(
    "--curve",
    type=click.Choice(["raw", "interpolated"]),
    help="Give the recall-precision curve: at every threshold, or at recall 0, 0.1, ... 1.",
)
@click.option("--stream", is_flag=True, help="Follow the filters over time (column time or order, or the lines).")
@click.option("--window", type=click.IntRange(1), metavar="N", help="Also over the last N moments of the stream.")
@click.option("--compare", is_flag=True, help="Test which differences between filters are real, as `compare` does.")
@measure_option("What to compare: SelP, SelR, SelF, Utility, ...", ())
@compares("samples")
@table_option(_TABLES)
@click.option("--train", multiple=True, metavar="FILE", help="Learn the threshold here; one file for each filter.")
@click.option("--train-qrels", metavar="QRELS", help="Judgments of the training files, if these are runs.")
@click.option(
    "--learn", type=click.Choice(LEARNT_FOR), default="theme", show_default=True, help="One, or each its own."
)
@click.option("--by", type=click.Choice(LEARNT_BY), default="f", show_default=True, help="What it is learnt by.")
@click.option("--docs", type=click.IntRange(1), metavar="N", help="Size of the collection.  [default: what is known]")
@click.option("--beta", type=Number(0), default=1.0, show_default=True, help="Weight of recall in F and E.")
@click.option("--utility", default="LF1", show_default=True, metavar="A,B", help="LF1, LF2, T11U, or 2 or 4 numbers.")
@click.option("--hull", type=Number(0, min_open=True), metavar="S", help="Also give Hull's scaled utility.")
@click.option("--target", "t9", type=Number(0, min_open=True), default=50, show_default=True, help="Of T9P.")
@evaluates("seed")
@click.option("--average", type=click.Choice(["macro", "micro", "both"]), help="[default: both]")
@click.option("-q", "--per-theme", is_flag=True, help="Also give the figures of each theme.")
@click.option("--full", is_flag=True, help="Print all figures, not one screen.")
@writes(*TABLE_FORMATS)
@reads_files
@speaks
def filter_(
    paths: tuple[str, ...],
    utility: str,
    t9: float,
    plan: dict[str, Any],
    options: dict[str, Any],
    target: Target,
    files: Files,
    **given: Any,
) -> None:
    """Judge filters: a document is selected for a theme if its score is at least the threshold.

    A TABLE has columns theme, y_true, and y_score or decision, and may have docno and time. Filters given together
    have one collection: --docs, or all documents any of the files knows for a theme.
    """
    from exaequo.filtering import views

    own: dict[str, Any] = {name: given.pop(name) for name in _SETTING}
    setting = views.Setting(utility=coefficients_of(utility), target=t9, **own)
    asked = Asked(**given)
    asked.check(setting)
    output.check_paths((*paths, *asked.train, *([asked.train_qrels] if asked.train_qrels else [])), target.path)
    if asked.compare:
        target.one_table(asked.only, _TABLES)
    filters, said = read_filters(paths, files, options, setting.docs)
    learnt, more = _learnt(filters, asked, setting, files, options)
    said += more
    if asked.compare:
        _compare(filters, learnt, asked, setting, {**plan, "seed": options["seed"]}, target, said)
        return
    found = _shown(filters, learnt, asked, setting)
    said += found.said
    output.warn(*said)
    if asked.first(setting, target):
        brief = [name for name in found.rows.columns if name in _FIRST]
        more = [*found.after, say("More: --full: all figures; -q: themes")]
        target.screen({"rows": views.table_of(found.rows.select(brief))}, after=more, rest="--full")
        return
    tables = {"rows": views.table_of(found.rows)}
    if target.format == "json":
        tables["means"] = views.table_of(found.means)
    options = _options(filters, asked, setting)
    target.show(tables, before=target.beside(said), after=found.after, options=options, warnings=said)


def _shown(filters: Sequence[Filter], learnt: Mapping[str, Learnt], asked: Asked, setting: Setting) -> Shown:
    from exaequo.filtering import views

    if asked.curve:
        return (views.raw_curves if asked.curve == "raw" else views.interpolated_curves)(filters, setting)
    if asked.sweep:
        return views.swept(filters, setting)
    return (views.over_time if asked.stream else views.at_threshold)(filters, learnt, setting)


def _options(filters: Sequence[Filter], asked: Asked, setting: Setting) -> dict[str, Any]:
    """Return what the figures depend on, for JSON."""
    from exaequo.filtering.figures import KNOWN

    return {
        "threshold": None if asked.train or asked.sweep or asked.curve else setting.at,
        "docs": setting.docs,
        "collection": setting.collection(filters),
        "beta": setting.beta,
        "utility": setting.utility,
        "hull": setting.hull,
        "target": setting.target,
        **_learning(asked, setting),
        **({"window": setting.window, "known_to_the_filter": list(KNOWN)} if asked.stream else {}),
    }


def _learning(asked: Asked, setting: Setting) -> dict[str, Any]:
    """Return how thresholds are learnt, if they are, for JSON."""
    return {"learn": asked.learn, "by": setting.by} if asked.train else {}


def coefficients_of(text: str) -> tuple[float, ...]:
    """Read a utility: its name, or what documents of a and b are worth, and perhaps those of c and d."""
    wrong = f"--utility takes {', '.join(UTILITIES)}, or two or four numbers such as 3,-2. Got {text!r}."
    try:
        numbers = UTILITIES[text] if text in UTILITIES else tuple(map(float, text.split(",")))
    except ValueError:
        raise UsageError(wrong) from None
    if len(numbers) not in (2, 4):
        raise UsageError(wrong)
    if not (all(map(isfinite, numbers)) and numbers[0] > 0):
        raise UsageError(f"--utility takes finite numbers, the first above 0. Got {text!r}.")
    return numbers


# ------------------------------------------------------------------------------------------------------------- reading


def are_tables(paths: Sequence[str], files: Files) -> bool:
    """Tell whether the files are tables of decisions: a single one is, several if the first looks like one.

    Standard input is read once, so that the next file is looked at instead.
    """
    from exaequo.read.decisions import holds_decisions

    first = next((path for path in paths if path != STDIN), STDIN)
    return len(paths) == 1 or holds_decisions(first, reader=files.qrels_reader, columns=files.columns)


def read_filters(
    paths: Sequence[str], files: Files, judging: Mapping[str, Any], docs: int | None = None
) -> tuple[list[Filter], list[str]]:
    """Read all filters, of one collection; and return what there is to say about the files."""
    from exaequo.filtering import absent, from_tables, judged_filters
    from exaequo.options import Options

    if are_tables(paths, files):
        if judging["rel_level"] is not None or judging["max_grade"] != HIGHEST_GRADE:
            raise UsageError("A table of decisions says what is relevant; leave --rel-level and --max-grade out.")
        filters = from_tables(paths, docs=docs, reader=files.qrels_reader, columns=files.columns)
        said = absent(filters)
    else:
        options = Options(**judging)
        filters, said = judged_filters(files.qrels(paths[0]), files.runs(paths[1:]), options, docs=docs)
    averages = sorted({"macro", "micro"} & {*filters[0].themes})
    return filters, [*(f"{paths[0]}: a theme is called {theme!r}, like the average" for theme in averages), *said]


def _learnt(
    filters: list[Filter], asked: Asked, setting: Setting, files: Files, options: Mapping[str, Any]
) -> tuple[dict[str, Learnt], list[str]]:
    """Return what each filter learns from its training file, by the name of the filter."""
    if not asked.train:
        return {}, []
    from exaequo.filtering import learn
    from exaequo.text import count, listed

    if len(asked.train) != len(filters):
        times = count(len(asked.train), "time")
        raise UsageError(f"--train is given {times} for {count(len(filters), 'filter')}; give each its own.")
    learnt: dict[str, Learnt] = {}
    said: list[str] = []
    for one, path in zip(filters, asked.train, strict=True):
        paths = (path,) if asked.train_qrels is None else (asked.train_qrels, path)
        (train,), notes = read_filters(paths, files, options)
        said += [f"training: {note}" for note in notes]
        found = learn(train, one, setting.by, asked.learn, beta=setting.beta, utility=setting.utility)
        learnt[one.name] = found
        if found.fallback:
            what = f"{one.name}: {count(len(found.fallback), 'theme')} with nothing to learn from"
            common = f"the threshold learnt from all themes, {found.common:g}"
            said.append(f"{what}, judged at {common}: {listed(found.fallback)}")
    return learnt, said


# ----------------------------------------------------------------------------------------------------------- comparing


def _compare(
    filters: Sequence[Filter],
    learnt: Mapping[str, Learnt],
    asked: Asked,
    setting: Setting,
    plan: dict[str, Any],
    target: Target,
    said: Sequence[str],
) -> None:
    """Compare the filters by the figures of each theme."""
    from exaequo.comparison import compare_scores
    from exaequo.comparison.plan import AGREE, Plan
    from exaequo.filtering import scores_of

    thresholds = {name: each.thresholds for name, each in learnt.items()} or None
    scores = scores_of(filters, _measures(asked, setting), thresholds=thresholds)
    result = compare_scores(scores, Plan(**plan, ties=AGREE))
    result = replace(
        result, warnings=(*said, *result.warnings), options={**result.options, **_learning(asked, setting)}
    )
    output.warn(*result.warnings)
    tables = dict(result.tables)
    show_comparison(result, {name: tables[name] for name in _TABLES}, asked.only, target)


def _measures(asked: Asked, setting: Setting) -> list[Measure]:
    """Return what is compared, with what the options say where a measure does not say it itself."""
    from exaequo.measures.notation import parse_measure, split

    usual = {"t": setting.threshold, "beta": setting.beta, "s": setting.hull, "target": setting.target}
    usual |= dict(zip(("u_rel", "u_nonrel"), setting.utility, strict=True))
    known = {name: value for name, value in usual.items() if value is not None}
    names = asked.measures or ("SelP SelR SelF NUtility", *(["HullU"] if setting.hull else []), "T9P")
    measures = [parse_measure(each, complete=False) for text in names for each in split(text)]
    for each in measures:
        if asked.train and "t" in each.params:
            raise UsageError(f"--train learns the threshold; leave t out of {each}.")
    return [
        each(**{name: known[name] for name in each.definition.defaults if name in known and name not in each.params})
        for each in measures
    ]
