"""Lists side by side. In: facts of two runs. Out: their documents, shared ones aligned, with judgments and texts."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any

from exaequo.comparison import Comparison
from exaequo.explanation.wording import Wording, figure_of
from exaequo.language import number, spoken, word
from exaequo.options import Options
from exaequo.scores import Scores
from exaequo.tabular import cell_text

#: Values whose steps go into the page, and rows of their tables.
MOST_STEPS, STEP_ROWS = 200, 20
#: Texts of topics and of documents, by their names.
Shown = dict[str, dict[str, list[str]]]


def explained(result: Comparison, ranked: Sequence[str], pair: tuple[str, str | None]) -> dict[tuple[int, int], str]:
    """Return how values of the first measure come about, by run and topic: the verdict's two runs, then others."""
    scores, measure, words = result.scores, result.scores.measures[0], Wording(spoken())
    place = {run: at for at, run in enumerate(scores.runs)}
    order = dict.fromkeys([run for run in pair if run is not None] + list(ranked))
    found: dict[tuple[int, int], str] = {}
    for run in order:
        steps, own = scores.facts[run].steps, scores[run, scores.ties[0], measure]
        values = dict(zip(own.topics, own.values.tolist(), strict=True))
        if len(found) + len(scores.shared) > MOST_STEPS or not steps:
            continue
        for at, topic in enumerate(scores.shared):
            said = words.steps(steps[scores.evaluated.index_of(topic)], STEP_ROWS)
            so = words.said("value", measure=measure.name, value=figure_of(measure, values[topic]))
            found[place[run], at] = "\n\n".join([*said, so])
    return found


def lists_of(
    scores: Scores,
    options: Options,
    pair: tuple[str, str | None],
    topics: Sequence[str],
    texts: Shown,
    steps: dict[tuple[int, int], str],
) -> list[dict[str, Any]]:
    """Return the lists of the two runs of the verdict, or of the one, for these topics."""
    best, second = pair
    runs = [run for run in (second, best) if run is not None]
    shared = scores.shared.to_list()
    found = []
    for topic in topics:
        tops = [scores.facts[run].tops[scores.evaluated.index_of(topic)] for run in runs]
        sides = [_documents(top, options, texts["documents"]) for top in tops]
        if len(sides) == 2:
            sides = _aligned(*sides)
        lists = []
        for run, documents in zip(runs, sides, strict=True):
            own = scores[run, scores.ties[0], scores.measures[0]]
            value = cell_text(float(own.values[own.topics.index_of(topic)]))
            text = steps.get((scores.runs.index(run), shared.index(topic)), "")
            lists.append({"run": run, "value": value, "documents": documents, "steps": text})
        found.append({"topic": topic, "text": texts["topics"].get(topic, []), "lists": lists})
    return found


def _documents(top: Sequence[Sequence[Any]], options: Options, texts: dict[str, list[str]]) -> list[dict[str, Any]]:
    """Return the documents of a list: rank, with = if tied, name, judgment, with ✓ if relevant, score, and text."""
    rows = []
    for at, (name, grade, tied, score) in enumerate(top):
        equal = tied or (at > 0 and top[at - 1][2])
        enough = grade is not None and (grade > 0 if options.rel_level is None else grade >= options.rel_level)
        relevant = enough and grade <= options.max_grade
        judgment = word("not judged") if grade is None else f"{number(f'{grade:g}')}{' ✓' if relevant else ''}"
        kind = " ".join(filter(None, ("tied" if tied else "", "in-tie" if equal else "")))
        row = {"rank": f"{at + 1}{' =' if equal else ''}", "name": name, "judgment": judgment, "score": number(score)}
        rows.append({**row, "kind": kind, "relevant": relevant, "text": texts.get(name, []), "other": ""})
    return rows


def _aligned(one: list[dict[str, Any]], two: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Put what both lists have in the same order on the same lines, and note the rank in the other list."""
    names = [[row["name"] for row in side] for side in (one, two)]
    for side, other in ((one, names[1]), (two, names[0])):
        for row in side:
            row["other"] = str(other.index(row["name"]) + 1) if row["name"] in other else ""
    gap: dict[str, Any] = {}
    left, right = list[dict[str, Any]](), list[dict[str, Any]]()
    for _, a, b, c, d in SequenceMatcher(None, names[0], names[1], autojunk=False).get_opcodes():
        more = (b - a) - (d - c)
        left += one[a:b] + [gap] * max(0, -more)
        right += two[c:d] + [gap] * max(0, more)
    return [left, right]
