"""Names that would run as scripts, in a real browser: in notebooks, pictures by themselves, a study, tables."""

from __future__ import annotations

import html
import json
import random
import warnings
from pathlib import Path
from typing import Any

import pytest

import exaequo
from browsing import Opened
from exaequo import plot, tabular
from exaequo.reporting import report
from exaequo.study import study
from exaequo.study.pages import write as write_study
from reporting.test_page import HOSTILE, hostile, nothing_ran

#: A picture, drawn as notebooks draw it: expressions become code, and no policy holds them back.
NOTEBOOK = """<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><div id="charts"></div>
<script type="application/json" id="specs">{specs}</script><script>{library}</script><script>
const specs = JSON.parse(document.getElementById("specs").textContent);
Promise.all(specs.map((spec) => {{
  const place = document.getElementById("charts").appendChild(document.createElement("div"));
  return vegaEmbed(place, spec, {{ renderer: "svg", actions: false }});
}})).then(() => {{ document.title = "drawn"; }}, (error) => {{ document.title = String(error); }});
</script>"""


def drawn(opened: Opened, path: Path, specs: list[Any]) -> None:
    """Draw in a page without a policy; nothing of what the specifications hold may run."""
    import vl_convert

    library = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # it has a default
    text = json.dumps(specs).replace("<", "\\u003c")
    path.write_text(NOTEBOOK.format(specs=text, library=library), encoding="utf-8")
    page = opened.open(path)
    page.wait_for_function("document.title !== ''", timeout=20_000)
    for point in page.locator("#charts svg .mark-symbol path, #charts svg .mark-rect path").all()[:40]:
        point.dispatch_event("mousemove")  # what is said beside the pointer is an expression, too
    opened.complaints[:] = [each for each in opened.complaints if "spec uses Vega" not in each]
    assert page.evaluate("typeof window.PWN") == "undefined"
    assert page.title() == "drawn"
    assert page.locator("img").count() == 0


def test_pictures_in_notebooks_and_as_specifications(tmp_path: Path, opened: Opened) -> None:
    qrels, runs = hostile()
    specs = []
    for kind in plot.KINDS:
        if kind == "single":
            continue
        few = dict(list(runs.items())[8 : 9 if kind in ("tie-groups", "threshold") else 11])
        options = {"topic": HOSTILE[9]} if kind == "recall" else {}
        chart = getattr(plot, kind.replace("-", "_"))(qrels, few, **options)
        specs += [chart._repr_mimebundle_()["application/vnd.vegalite.v5+json"], json.loads(chart.drawn("json"))]
    drawn(opened, tmp_path / "notebook.html", specs)


def test_a_picture_by_itself(tmp_path: Path, opened: Opened) -> None:
    """A browser runs the scripts of an SVG that it opens by itself."""
    qrels, runs = hostile()
    for kind in ("systems", "topics", "tie-groups"):
        few = dict(list(runs.items())[: 1 if kind == "tie-groups" else 3])
        path = tmp_path / f"{kind}.svg"
        getattr(plot, kind.replace("-", "_"))(qrels, few).save(path)
        page = opened.open(path)
        assert page.evaluate("typeof window.PWN") == "undefined"
        assert page.evaluate("document.querySelectorAll('script, foreignObject, image, iframe').length") == 0
        attributes = page.evaluate("[...document.querySelectorAll('*')].flatMap((one) => one.getAttributeNames())")
        assert not [name for name in attributes if name.startswith("on") or name.endswith("href")]


def test_the_page_in_a_notebook_cannot_touch_it(tmp_path: Path, opened: Opened) -> None:
    qrels, runs = hostile()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exaequo.DataWarning)
        shown = report(qrels, runs, None, "AP P@5", title=HOSTILE[0])._repr_html_()
    path = tmp_path / "notebook.html"
    path.write_text(f'<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">{shown}', encoding="utf-8")
    page = opened.open(path)
    frame = page.frames[1]
    frame.wait_for_selector("#scores tbody tr")
    assert frame.evaluate("window.origin") == "null"
    reaching = "(() => { try { return String(parent.document.title); } catch { return 'kept out'; } })()"
    assert frame.evaluate(reaching) == "kept out"
    frame.fill("#filter", "PWN")
    frame.press("#filter", "Enter")
    frame.select_option("#one", index=2)
    frame.locator("#bars .bar").first.click()
    with page.expect_download() as waiting:
        frame.click("#csv")
    waiting.value.save_as(tmp_path / "values.csv")
    assert (tmp_path / "values.csv").read_text(encoding="utf-8").startswith("run,topic,measure,value\n")
    for place in (page, frame):
        assert place.evaluate("typeof window.PWN") == "undefined"


def test_tables_in_notebooks(tmp_path: Path, opened: Opened) -> None:
    qrels, runs = hostile()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exaequo.DataWarning)
        few = dict(list(runs.items())[:3])
        results: list[Any] = [
            exaequo.compare(qrels, few, "AP"),
            exaequo.audit_ties(qrels, few, "AP"),
            exaequo.unjudged(qrels, few, "AP"),
        ]
    parts = [each._repr_html_() for each in results]
    parts.append(tabular.html(tabular.Table(HOSTILE[0], [tabular.Column(HOSTILE[1], HOSTILE)], HOSTILE)))
    path = tmp_path / "tables.html"
    path.write_text('<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">' + "\n".join(parts), "utf-8")
    page = opened.open(path)
    assert page.evaluate("typeof window.PWN") == "undefined"
    assert page.locator("img, script, svg").count() == 0
    assert HOSTILE[0] in page.locator("caption").all_text_contents()


def test_a_study_of_hostile_names(tmp_path: Path, opened: Opened) -> None:
    source = random.Random(5)
    names = [name.replace(" ", "_").replace("\u2028", "").replace("\u2029", "") for name in HOSTILE]
    place = tmp_path / "archive" / "<svg onload=PWN=1>" / "<img src=x onerror=PWN=1>"
    (place / "runs").mkdir(parents=True)
    (place / "qrels.txt").write_text("".join(f"{t} 0 {d} {at % 2}\n" for t in names[:6] for at, d in enumerate(names)))
    for row, name in enumerate(names[:4]):
        lines = [f"{t} Q0 {d} 0 {source.randint(0, 3)} {name}\n" for t in names[:6] for d in names]
        (place / "runs" / f"<script>PWN=1<{row}").write_text("".join(lines))
    (place / "runs" / "<img src=x onerror=PWN=2>").write_text("this is no run\n")
    result = study(tmp_path / "archive", tmp_path / "out", measures="RR AP", top=3)
    write_study(result, tmp_path / "out")
    page = opened.open(tmp_path / "out" / "index.html")
    assert "onerror=PWN=1" in html.unescape(str(page.text_content("body")))
    assert page.evaluate("document.scripts.length") == 1
    nothing_ran(page)


@pytest.mark.parametrize("name", ["page", "study"])
def test_policies_name_everything(name: str, sample: Path) -> None:
    """Directives that do not fall back to the first stand there, and those that scanners ask for."""
    from exaequo.plot.page import policy

    text = policy("one") if name == "study" else sample.read_text(encoding="utf-8")
    for directive in ("default-src", "object-src", "base-uri", "form-action"):
        assert f"{directive} 'none'" in text
    assert "unsafe-eval" not in text.partition("</head>")[0]
