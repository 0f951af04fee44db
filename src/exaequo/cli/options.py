"""Options many commands have: what files are read as, what counts as relevant, where output goes and as what.

Each decorator adds the options and hands the command one object instead of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from exaequo.choices import (
    ALL_TIES,
    ALPHA,
    CORRECTIONS,
    DATA_FORMATS,
    EXPECTED,
    FAIR,
    HIGHEST_GRADE,
    INTERVAL_KINDS,
    LIBRARY_CORRECTIONS,
    MEASURES,
    MISSING,
    ORDERS_SAMPLED,
    PATTERNS,
    PRECISIONS,
    ROBUST,
    STRATEGIES,
    TESTS,
)
from exaequo.cli import output
from exaequo.cli.files import FILE, Command, Decorator, gathers, left_out, mended
from exaequo.cli.files import Files as Files
from exaequo.cli.files import reads_files as reads_files
from exaequo.cli.files import reads_runs as reads_runs
from exaequo.errors import UsageError
from exaequo.language import ENGLISH, LANGUAGES, of_locale, say, speaking

if TYPE_CHECKING:
    import polars as pl

    from exaequo.tabular import Table

#: The form of JSON documents; it counts up when one changes.
JSON_FORMAT = 1


@dataclass(frozen=True)
class Target:
    """Where output goes, and as what; in which language, if that was said; `safe` from spreadsheets, or as it is."""

    format: str
    path: str | None
    lang: str | None = None
    safe: bool = False

    def show(
        self,
        tables: Mapping[str, Table],
        *,
        before: Sequence[str] = (),
        after: Sequence[str] = (),
        options: Mapping[str, Any] | None = None,
        warnings: Sequence[str] = (),
    ) -> None:
        """Write tables: all in one JSON document, one as CSV, or for people: with sentences, no title over nothing.

        Where there is nothing but empty tables, people are told so.
        """
        from exaequo import tabular

        if self.format == "json":
            content: dict[str, Any] = {name: tabular.rows(table.frame) for name, table in tables.items()}
            self.json(content if options is None else {"options": options, **content, "warnings": warnings})
            return
        if self.format == "csv":
            (one,) = tables.values()
            self._csv(one.frame)
            return
        some = [table for table in tables.values() if table.frame.height or not table.title]
        shown = [tabular.Table(lines=before), *some, tabular.Table(lines=after)]
        width = {} if self.format != "table" or self.path else {"width": output.width()}
        text = "\n\n".join(filter(None, (tabular.WRITERS[self.format](each, **width) for each in shown)))
        if not text and self.format == "table":
            text = "\n".join(say("{title}: none", title=table.title) for table in tables.values())
        self.text(text)

    def screen(
        self,
        tables: Mapping[str, Table],
        *,
        before: Sequence[str] = (),
        after: Sequence[str] = (),
        rest: str = "--table {table}",
        **said: Any,
    ) -> None:
        """Write the first screen of a result, and what has the `rest` of a table; elsewhere all of it."""
        if self.format != "table" or self.path is not None:
            self.show(tables, before=before, after=after, **said)
            return
        from exaequo.screens import page

        some = {name: table for name, table in tables.items() if table.frame.height or not table.title}
        self.text(page(before, some, after, *output.room(), rest))

    def _csv(self, frame: pl.DataFrame) -> None:
        from exaequo.spreadsheets import as_text, formulas

        if not self.safe:
            output.warn(*(f"{each}, or write it with --safe-csv" for each in formulas(frame)))
        output.write(as_text(frame) if self.safe else frame.write_csv(), self.path)

    def beside(self, warnings: Iterable[str]) -> list[str]:
        """Return the warnings as lines where the output is passed on, with no standard error beside it."""
        return [] if self.format in ("table", "json") else [f"warning: {each}" for each in warnings]

    def text(self, text: str) -> None:
        """Write lines for people, to the terminal as far as it can show them."""
        if self.path is None and self.format in ("table", "text"):
            output.show_text(text)
        else:
            output.write(text + "\n", self.path)

    def json(self, content: Mapping[str, Any]) -> None:
        """Write a document; what is undefined is null."""
        from exaequo.tabular import plain

        beside = {
            "left_out": [{"file": path, "problem": str(error)} for path, error in left_out().items()],
            "mended": [asdict(each) for each in mended()],
        }
        document = plain({"format": JSON_FORMAT, **content, **{name: some for name, some in beside.items() if some}})
        output.write(json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n", self.path)

    def tell(self, lines: Iterable[str], **content: Any) -> None:
        """Write lines for people, or a document that says the same."""
        if self.format == "json":
            self.json(content)
        else:
            self.text("\n".join(lines))

    def others(self, tables: Iterable[str], *shown: str) -> list[str]:
        """Return a line at the end of a screen: which tables there are besides those shown."""
        names = ", ".join(name for name in tables if name not in shown)
        return [say("More: --table {names}", names=names)] if self.format == "table" and names else []

    def one_table(self, only: str | None, tables: Iterable[str]) -> None:
        """Refuse several tables in one CSV."""
        if self.format == "csv" and only is None:
            raise UsageError(f"--format csv holds one table; choose it with --table: {', '.join(tables)}.")


def titled(
    frames: Mapping[str, pl.DataFrame],
    titles: Mapping[str, str],
    chosen: Iterable[str],
    *,
    brief: Mapping[str, pl.DataFrame] | None = None,
    **look: Any,
) -> dict[str, Table]:
    """Return the chosen frames as tables with their titles; of some, people read a `brief` one."""
    from exaequo.tabular import Table

    spoken = dict(zip(titles, map(say, titles.values()), strict=True))
    return {name: Table.of(frames[name], spoken[name], brief=(brief or {}).get(name), **look) for name in chosen}


def writes(
    *formats: str,
    default: str | None = None,
    there: str = "Write there instead of to standard output.",
    where: str = "FILE",
) -> Decorator:
    """Add the options of commands that write tables, in one of these formats; the command gets them as `target`.

    Some formats have an option of their own. `default` says in words what an empty format stands for; unless given, the
    first one counts. `there` says what goes to the file, or to a folder if `where` says so.
    """
    flags = [name for name in ("json", "markdown") if name in formats]

    def target(format_: str | None, path: str | None, safe_csv: bool = False, **asked: bool) -> Target:
        named = next((name for name in flags if asked[name]), format_ or "")
        return Target("csv" if safe_csv else named, path, safe=safe_csv)

    usual: dict[str, Any] = {"default": formats[0], "show_default": True}
    if default is not None:
        usual = {"help": f"[default: {default}]"}
    options: dict[str, Decorator] = {
        "format_": click.option("--format", "format_", type=click.Choice(formats), **usual),
        **{name: click.option(f"--{name}", is_flag=True, help=f"The same as --format {name}.") for name in flags},
        "path": click.option("-o", "--output", "path", type=FILE, metavar=where, help=there),
    }
    if "csv" in formats:
        said = "CSV for spreadsheets: no name is a formula; an apostrophe stands before it."
        options["safe_csv"] = click.option("--safe-csv", is_flag=True, help=said)
    return gathers("target", target, options)


def speaks(function: Command) -> Command:
    """Add `--lang`, in which the command speaks; stands last. Data for programs are English, and so are errors."""
    click.option("--lang", type=click.Choice(LANGUAGES), help="Of results.  [default: that of the locale]")(function)

    @wraps(function)
    def command(*arguments: Any, lang: str | None, **given: Any) -> Any:
        target = given.get("target")
        if isinstance(target, Target):
            given["target"] = replace(target, lang=lang)
        data = isinstance(target, Target) and target.format in DATA_FORMATS
        with speaking(ENGLISH if data else lang or of_locale()):
            return function(*arguments, **given)

    return command


class _Field(NamedTuple):
    """An option that is a field of a record, in the words of click."""

    type: Any
    default: Any = None
    metavar: str | None = None
    help: str | None = None
    show_default: bool | str = True
    is_flag: bool = False


#: What `--depth` does in every command that has it.
_DEPTH = "Cut each list to its first N documents"
#: The options of an evaluation: fields of `exaequo.options.Options`.
_EVALUATION = {
    "depth": _Field(click.IntRange(1), None, "N", f"{_DEPTH}, after ordering.", show_default=False),
    "rel_level": _Field(float, None, "N", "Least grade that is relevant.  [default: any above 0]"),
    "max_grade": _Field(float, HIGHEST_GRADE, "N", "A grade above this is not relevant; 'inf' lifts the limit.", "127"),
    "missing": _Field(click.Choice(MISSING), MISSING[0], None, "What a judged topic scores that the run lacks."),
    "precision": _Field(click.Choice(PRECISIONS), PRECISIONS[0], None, "How scores are compared."),
    "seed": _Field(click.IntRange(0), 0, None, "For all that is random."),
    "samples": _Field(click.IntRange(2), ORDERS_SAMPLED, "N", "Orders to try if there is no closed form."),
}


#: How runs are compared: fields of `Plan`.
_PLAN = {
    "baseline": _Field(str, None, "RUN", "Compare all others with this run (its name or file)."),
    "test": _Field(click.Choice(TESTS), TESTS[0]),
    "correction": _Field(
        click.Choice((*CORRECTIONS, *LIBRARY_CORRECTIONS)), "holm", "NAME", "How p is corrected; see docs/compare.md."
    ),
    "alpha": _Field(float, ALPHA, None, "Level of the tests, after correction."),
    "interval": _Field(click.Choice(INTERVAL_KINDS), INTERVAL_KINDS[0]),
    "samples": _Field(click.IntRange(100), PATTERNS, None, "For random tests."),
    "single": _Field(bool, False, None, "Intervals of each pair by itself, not of all together.", is_flag=True),
    "jointly": _Field(bool, False, None, "Correct over all measures together, not each by itself.", is_flag=True),
    "margin": _Field(str, None, "D", "What is practically no difference, as 0.01 or 1%: tests equivalence too."),
}


def evaluates(*names: str, **usual: Any) -> Decorator:
    """Add these options of an evaluation, and what counts as relevant; the command gets them as `options`.

    `usual` are other defaults than those of all commands.
    """
    changed = {name: _with_default(_EVALUATION[name], default) for name, default in usual.items()}
    return _fields("options", _EVALUATION | changed, {*names, *usual, "rel_level", "max_grade"})


def _with_default(field: _Field, default: Any) -> _Field:
    """Return the option with another default; None, which tells that it is not given, shows what then counts."""
    return field._replace(default=default, show_default=str(field.default) if default is None else True)


def compares(*more: str) -> Decorator:
    """Add the options of a comparison, and these beyond the usual ones; the command gets them as `plan`."""
    return _fields("plan", _PLAN, {"baseline", "test", "correction", "alpha", *more}, _plan)


def _plan(margin: str | None = None, **given: Any) -> dict[str, Any]:
    """Return the fields of a plan; the margin is read."""
    if margin is None:
        return {**given, "margin": None}
    from exaequo.comparison.margin import Margin

    return {**given, "margin": Margin.of(margin)}


def _fields(
    name: str, known: Mapping[str, _Field], chosen: Collection[str], make: Callable[..., Any] = dict
) -> Decorator:
    """Add an option for each of the fields chosen; the command gets what is made of them, by itself a dict."""
    options = {
        each: click.option("--" + each.replace("_", "-"), **_given(field))
        for each, field in known.items()
        if each in chosen
    }
    return gathers(name, make, options)


def _given(field: _Field) -> dict[str, Any]:
    """Return the words of click; a flag has no kind of value."""
    words = field._asdict()
    return {**words, "type": None, "show_default": False} if field.is_flag else words


def measure_option(text: str = "", usual: Sequence[str] = MEASURES) -> Decorator:
    """Add `-m`, which is about `text`; the command gets `measures`, none if none is given, which stands for `usual`."""
    said = f"{text or 'As in AP, P@10, nDCG@10'}; may be repeated."
    shown = f"  [default: {', '.join(usual)}]" if usual else ""
    names = ("-m", "--measure", "--measures", "measures")
    return click.option(*names, multiple=True, metavar="MEASURE", help=said + shown, cls=_OneName)


def ties_option(*names: str, text: str = "How tied documents are ordered.", given: bool = False) -> Decorator:
    """Add `--ties`, one of these strategies, by default all; None tells that it is not `given`, where that matters."""
    usual: dict[str, Any] = {"default": STRATEGIES[0], "show_default": True, "help": text}
    if given:
        usual = {"help": f"{text}  [default: {STRATEGIES[0]}]"}
    return click.option("--ties", type=click.Choice(names or STRATEGIES), **usual)


class _Several(click.Choice[str]):
    """Some of the choices, with commas between them."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        choose = super().convert
        return tuple(choose(each, param, ctx) for each in str(value).split(","))


def several_ties(*rules: str, text: str = "", metavar: str | None = None) -> Decorator:
    """Add `--ties` where there may be several, and `rules` with what they are; the command gets them as a tuple."""
    return click.option(
        "--ties",
        type=_Several((*rules, *STRATEGIES, EXPECTED, ALL_TIES)),
        metavar=metavar,
        multiple=True,
        default=(*rules, *STRATEGIES)[:1],
        show_default=True,
        callback=lambda _, __, given: tuple(name for names in given for name in names),
        help="How tied documents are ordered; 'expected' is the mean over all orders, 'all' the first three. Several "
        f"may have commas between them{text}.",
    )


#: Adds the same where better or worse is said: of several orders, all must agree.
deciding_ties = several_ties(
    *(FAIR, ROBUST),
    metavar=f"{FAIR}|{ROBUST}|STRATEGY,...",
    text=": better or worse is said where they agree; 'fair': where realistic, expected and optimistic do; 'robust': "
    "where it holds even with one run at its worst and the other at its best",
)


def depth_option(usual: int, which: str = "") -> Decorator:
    """Add `--depth` where it is not that of an evaluation; `which` says more about the documents."""
    text = f"{_DEPTH}{which}."
    return click.option("--depth", type=click.IntRange(1), default=usual, show_default=True, metavar="N", help=text)


def table_option(names: Collection[str]) -> Decorator:
    """Add `--table`; the command gets `only`."""
    text = f"Give this table alone: {', '.join(names)}."
    return click.option("--table", "only", type=click.Choice(list(names)), metavar="NAME", help=text)


def show_option(usual: int, former: str, text: str, least: int = 1) -> Decorator:
    """Add `--show`, how many documents are shown, with the name it had; the command gets `show`."""
    names = ("--show", former, "show")
    kind = click.IntRange(least)
    return click.option(*names, type=kind, default=usual, show_default=True, metavar="N", help=text, cls=_OneName)


class _OneName(click.Option):
    """An option whose help leaves out the names it also has."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        known = self.opts
        self.opts = known[:-1]
        try:
            return super().get_help_record(ctx)
        finally:
            self.opts = known
