"""The page: one self-contained file about a set of runs. In: files. Out: HTML that opens from disk.

`page.html.j2` is the page, readable without scripts; `SCRIPTS` sort, filter, pin and download; `content` is what is in
it. All names are escaped by the template, or put in place as text by the script.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Unpack, overload

from exaequo.choices import ALPHA, COMPARED, MEASURES, PAGE_DOCUMENTS
from exaequo.comparison.plan import Plan
from exaequo.errors import BadParameter, ExaequoError
from exaequo.evaluation import judged_runs, warn
from exaequo.language import ENGLISH, marks, number, say, spoken, template
from exaequo.measures import Measure, parse_measures
from exaequo.options import Evaluation, Options, keywords
from exaequo.plot.chart import COLOURS, FAINT, INK, ON_DARK, PAPER, QUIET
from exaequo.plot.page import embedded, policy
from exaequo.read import QrelsLike, RunLike, read_qrels, read_runs
from exaequo.reporting.content import Content, Wanted, content_of
from exaequo.reporting.texts import TextsLike, read_texts
from exaequo.writing import write_whole

__all__ = ["Content", "Page", "Wanted", "content_of", "page", "read_texts", "report"]

#: What works in the page, in this order; later ones use the earlier.
SCRIPTS = ("page.js", "runs.js", "topics.js", "show.js")


@dataclass(frozen=True, eq=False)
class Page:
    """A page: what its verdict says, and its HTML. A notebook shows it in place."""

    verdict: str
    html: str = field(repr=False)

    def save(self, path: str | Path) -> Path:
        """Write the page."""
        write_whole(path, self.html.encode())
        return Path(path)

    def _repr_html_(self) -> str:
        style = "width:100%;height:52rem;border:1px solid #8888"
        may = "allow-scripts allow-forms allow-downloads"  # but not touch the notebook: its origin is another
        return f'<iframe title="exaequo" sandbox="{may}" style="{style}" srcdoc="{html.escape(self.html)}"></iframe>'


@overload
def report(
    qrels: QrelsLike,
    runs: Sequence[RunLike] | Mapping[str, RunLike],
    out: str | Path,
    measures: Sequence[str | Measure] | str = ...,
    *,
    baseline: str | None = ...,
    test: str = ...,
    correction: str = ...,
    alpha: float = ...,
    documents: int = ...,
    title: str = ...,
    topics: TextsLike = ...,
    docs: TextsLike = ...,
    paths: bool = ...,
    **options: Unpack[Evaluation],
) -> Path: ...


@overload
def report(
    qrels: QrelsLike,
    runs: Sequence[RunLike] | Mapping[str, RunLike],
    out: None = None,
    measures: Sequence[str | Measure] | str = ...,
    *,
    baseline: str | None = ...,
    test: str = ...,
    correction: str = ...,
    alpha: float = ...,
    documents: int = ...,
    title: str = ...,
    topics: TextsLike = ...,
    docs: TextsLike = ...,
    paths: bool = ...,
    **options: Unpack[Evaluation],
) -> Page: ...


def report(
    qrels: QrelsLike,
    runs: Sequence[RunLike] | Mapping[str, RunLike],
    out: str | Path | None = None,
    measures: Sequence[str | Measure] | str = MEASURES,
    *,
    baseline: str | None = None,
    test: str = "t",
    correction: str = "holm",
    alpha: float = ALPHA,
    documents: int = PAGE_DOCUMENTS,
    title: str = "",
    topics: TextsLike = None,
    docs: TextsLike = None,
    paths: bool = False,
    **options: Unpack[Evaluation],
) -> Path | Page:
    """Write a page about some runs, or return it, to be shown in a notebook, if `out` is not given.

    `documents` says how many of each list go into the page, `topics` and `docs` are files or frames with their texts,
    `paths` asks for whole paths of files instead of their names; other options as for `compare`.
    """
    if type(documents) is not int or documents < 0:
        raise BadParameter(f"documents must be a whole number ≥ 0. Got {documents!r} instead.")
    reading, given = keywords("report", options)
    chosen, parsed = Options(ties=COMPARED, **given), parse_measures(measures)
    plan = Plan(baseline=baseline, test=test, correction=correction, alpha=alpha, seed=chosen.seed)
    wanted = Wanted(documents=documents, title=title, texts=read_texts(topics, docs), paths=paths)
    judgments, read = read_qrels(qrels, digest=True, **reading), read_runs(runs, digest=True, **reading)
    judged = judged_runs(judgments, read, chosen, parsed)
    content = content_of(judged, parsed, chosen, plan, wanted)
    warn(content.warnings)
    made = Page(content.verdict, page(content))
    return made if out is None else made.save(out)


def page(content: Content) -> str:
    """Return the page."""
    try:
        import jinja2
    except ImportError:
        raise ExaequoError("The page needs Jinja2: pip install 'exaequo[report]'") from None
    source = files(__package__)
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    names = ("page.html.j2", "page.css", *SCRIPTS)
    body, style, *scripts = (source.joinpath(name).read_text(encoding="utf-8") for name in names)
    script = '"use strict";\n(() => {\n' + "".join(scripts) + "})();\n"
    return environment.from_string(body).render(
        c=content.shown,
        say=say,
        number=number,
        lang=spoken(),
        words=embedded(_words(content, script)) if spoken() != ENGLISH else "",
        style=style + dark_figures(),
        script=script,
        policy=policy(script),
        data=embedded(content.shown["data"]),
        steps=embedded(content.shown["steps"]),
    )


def _words(content: Content, script: str) -> dict[str, Any]:
    """Return what the script says, and how it writes numbers, in another language."""
    said = {text: template(text) for text in re.findall(r'\b(?:say|parts)\("([^"]*)"', script)}
    return {"decimal": marks()[0], "said": said | content.shown["names"]}


def dark_figures() -> str:
    """Return the rules that give figures, which are drawn for light paper, their colours on dark paper."""
    pairs = [*zip(COLOURS, ON_DARK, strict=True), INK, PAPER, FAINT, QUIET]
    rules = [
        f'figure svg [{part}="{light}" i]{{{part}:{dark}}}' for light, dark in pairs for part in ("fill", "stroke")
    ]
    return "@media screen and (prefers-color-scheme: dark){" + "".join(rules) + "}\n"
