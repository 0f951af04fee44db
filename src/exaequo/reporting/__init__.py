"""The page: one self-contained file about a set of runs. In: files. Out: HTML that opens from disk.

`page.html.j2` is the page, readable without scripts; `page.js` sorts, filters, pins and downloads; `content` is what is
in it. All names are escaped by the template, or put in place as text by the script.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, Unpack

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
from exaequo.reporting.content import Content, content_of
from exaequo.writing import write_whole

__all__ = ["Content", "content_of", "page", "report"]


def report(
    qrels: QrelsLike,
    runs: Sequence[RunLike] | Mapping[str, RunLike],
    out: str | Path,
    measures: Sequence[str | Measure] | str = MEASURES,
    *,
    baseline: str | None = None,
    test: str = "t",
    correction: str = "holm",
    alpha: float = ALPHA,
    documents: int = PAGE_DOCUMENTS,
    title: str = "",
    **options: Unpack[Evaluation],
) -> Path:
    """Write a page about some runs; options as for `compare`.

    `documents` says how many of each list go into the page.
    """
    if type(documents) is not int or documents < 0:
        raise BadParameter(f"documents must be a whole number ≥ 0. Got {documents!r} instead.")
    chosen, parsed = Options(ties=COMPARED, **keywords("report", options)), parse_measures(measures)
    plan = Plan(baseline=baseline, test=test, correction=correction, alpha=alpha, seed=chosen.seed)
    judged = judged_runs(read_qrels(qrels, digest=True), read_runs(runs, digest=True), chosen, parsed)
    content = content_of(judged, parsed, chosen, plan, documents=documents, title=title)
    warn(content.warnings)
    write_whole(out, page(content).encode())
    return Path(out)


def page(content: Content) -> str:
    """Return the page."""
    try:
        import jinja2
    except ImportError:
        raise ExaequoError("The page needs Jinja2: pip install 'exaequo[report]'") from None
    source = files(__package__)
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    parts = {name: source.joinpath(f"page.{name}").read_text(encoding="utf-8") for name in ("html.j2", "css", "js")}
    return environment.from_string(parts["html.j2"]).render(
        c=content.shown,
        say=say,
        number=number,
        lang=spoken(),
        words=embedded(_words(content, parts["js"])) if spoken() != ENGLISH else "",
        style=parts["css"] + dark_figures(),
        script=parts["js"],
        policy=policy(parts["js"]),
        data=embedded(content.shown["data"]),
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
