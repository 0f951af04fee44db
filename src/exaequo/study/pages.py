"""Writing a study: every table as CSV, Parquet and LaTeX, and one page with all of them. Same study, same bytes."""

from __future__ import annotations

import html
import io
import json
from pathlib import Path

import polars as pl

from exaequo import tabular
from exaequo.study import Study
from exaequo.study.editions import ALL
from exaequo.study.tables import PLAIN
from exaequo.tabular import Table
from exaequo.text import count
from exaequo.writing import write_whole

#: Tables in the order of the page: what they are called, and what they say.
TITLES = {
    "ties": ("Tied documents", "Per list: share of documents tied with another, and documents per different score."),
    "differences": (
        "Conventional against realistic scores",
        "Mean difference, Pearson's r, and p of a paired one-tailed t-test that conventional is higher; * p < 0.001.",
    ),
    "lucky_lists": ("The luckiest lists", "Those that the names of documents help most."),
    "lucky_runs": ("The luckiest runs", "By the mean over topics."),
    "rankings": (
        "Rankings of systems",
        "Kendall's τ-b between strategies (R realistic, C conventional, O optimistic) with its p; systems whose rank "
        "differs between R and C, of all and without the worst quarter.",
    ),
    "conclusions": (
        "Wrong conclusions",
        "Pairs of systems for which a two-sided paired t-test says one thing with conventional ties and another with "
        "realistic ones.",
    ),
    "stuffing": ("Stuffing", "Systems that fill up lists with documents of score 0 below positive ones."),
    "systems": ("Systems", "Rank and mean under each strategy beside the share of tied documents."),
    "one_tie": ("Lists that are one single tie", ""),
    "from_nothing": ("Lists that names lift from 0", "A gain in percent is undefined for them."),
    "remarks": ("Remarks", "What to know about runs that were evaluated."),
    "broken": ("Files that could not be evaluated", "They are left out of everything above."),
}
#: Rows of a table that the page shows; the files have all.
MOST_ROWS = 200

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8882; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 72rem; padding: 1rem 1.5rem 4rem; }
h1 { line-height: 1.2; } h2 { margin: 2.5rem 0 .25rem; } p { max-width: 46rem; } p.what { margin: .25rem 0 .75rem; }
nav ul { columns: 14rem; padding-left: 1.2rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .6rem; text-align: left; white-space: nowrap; border-bottom: 1px solid var(--line); }
th { position: sticky; top: 0; background: Canvas; } .n { text-align: right; }
tbody tr:nth-child(even) { background: var(--soft); }
@media print { body { max-width: none; font-size: 10pt; } .scroll { overflow: visible; } th { position: static; } }
"""


def write(study: Study, folder: str | Path) -> list[Path]:
    """Write all tables and the page; return the files."""
    place = Path(folder) / "tables"
    place.mkdir(parents=True, exist_ok=True)
    files: dict[Path, bytes] = {}
    for name, frame in study.tables.items():
        buffer = io.BytesIO()
        frame.write_parquet(buffer)
        files[place / f"{name}.csv"] = frame.write_csv().encode()
        files[place / f"{name}.parquet"] = buffer.getvalue()
        files[place / f"{name}.tex"] = (tabular.latex(Table.of(frame)) + "\n").encode()
    files[Path(folder) / "study.json"] = (json.dumps(study.about, indent=1, ensure_ascii=False) + "\n").encode()
    files[Path(folder) / "index.html"] = page(study).encode()
    for path, data in files.items():
        write_whole(path, data)
    return list(files)


def summary(study: Study) -> list[str]:
    """Say in a few sentences what the study found."""
    archive = study.about["archive"]
    ties = study.tables["ties"].filter((pl.col("track") == ALL) & (pl.col("edition") == PLAIN)).row(0, named=True)
    lines = [
        f"{count(archive['editions'], 'edition')}, {count(archive['runs'], 'run')}, {archive['lines']:,} lines: on "
        f"average {ties['tied_mean_percent']:.1f} % of the documents of a list are tied, with "
        f"{ties['per_score_mean']:.1f} documents per score."
    ]
    for row in study.tables["differences"].filter((pl.col("track") == ALL) & (pl.col("of") == "runs")).to_dicts():
        more = "" if row["star"] else ", which is not significant at 0.001"
        share = "" if row["relative_percent"] != row["relative_percent"] else f" ({row['relative_percent']:+.2f} %)"
        size = f"{row['difference_percent'] / 100:+.5f}{share}{more}"
        r = tabular.cell_text(row["r"])
        lines.append(f"The order of names changes the mean {row['measure']} of runs by {size}; r = {r}.")
    single = pl.col("wrong_percent").is_not_nan() & (pl.col("track") != ALL)
    wrong = study.tables["conclusions"].filter(single).sort("wrong_percent", descending=True, maintain_order=True)
    if wrong.height:
        worst = wrong.row(0, named=True)
        lines.append(
            f"With conventional ties, up to {worst['wrong_percent']:.1f} % of the conclusions between two systems of "
            f"an edition are wrong ({worst['track']} {worst['edition']}, {worst['measure']})."
            if worst["wrong"]
            else "No conclusion between two systems of an edition depends on the order of names."
        )
    if archive["broken"]:
        files = count(archive["broken"], "file")
        lines.append(f"{files} could not be evaluated; what is wrong is in the table `broken`.")
    return lines


def page(study: Study) -> str:
    """Return the page: one file, no scripts, nothing from elsewhere."""
    shown = {name: frame for name, frame in study.tables.items() if frame.height}
    ordered = [name for name in TITLES if name in shown]
    contents = "".join(f'<li><a href="#{name}">{html.escape(TITLES[name][0])}</a></li>' for name in ordered)
    parts = [_section(name, shown[name]) for name in ordered]
    options = ", ".join(f"{name} {value}" for name, value in study.about["options"].items())
    versions = ", ".join(f"{name} {value}" for name, value in study.about["versions"].items())
    said = "".join(f"<p>{html.escape(line)}</p>" for line in summary(study))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<title>Ties of an archive</title>
<style>{_STYLE}</style>
</head>
<body>
<main>
<h1>Ties of an archive</h1>
{said}
<nav aria-label="Tables"><ul>{contents}</ul></nav>
{"".join(parts)}
</main>
<footer><p>Options: {html.escape(options)}. Versions: {html.escape(versions)}.</p></footer>
</body>
</html>
"""


def _section(name: str, frame: pl.DataFrame) -> str:
    title, what = TITLES[name]
    more = frame.height - MOST_ROWS
    note = f" The first {MOST_ROWS} of {frame.height:,} rows; all are in tables/{name}.csv." if more > 0 else ""
    text = html.escape(what + note)
    few = [column for column in frame.columns if column.startswith(("per_score", "ranks"))]
    table = Table.of(frame.head(MOST_ROWS), digits=dict.fromkeys(few, 1))
    return (
        f'<section id="{name}"><h2>{html.escape(title)}</h2><p class="what">{text}</p>'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{html.escape(title)}">'
        f"{tabular.html(table)}</div></section>\n"
    )
