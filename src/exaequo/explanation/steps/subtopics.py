"""Diversity: what a document brings for each subtopic, and how often that was seen before."""

from __future__ import annotations

from math import log2

from exaequo.explanation.steps.parts import Row, Step, column, explains, listed, over, summed
from exaequo.explanation.view import View


def _relevant_to(view: View, rel: float | None) -> dict[str, list[str]]:
    """Return the subtopics each relevant document of the topic is relevant to, by name."""
    judgments = view.ranking.judgments
    subtopics = judgments.subtopics
    chosen = judgments.relevant(subtopics.grade, rel) & (judgments.topic[subtopics.place] == view.topic)
    rows = judgments.row[subtopics.place[chosen]]
    found: dict[str, list[str]] = {}
    documents = judgments.qrels.frame["docno"][rows].to_list()
    for document, number in zip(documents, subtopics.subtopic[chosen].tolist(), strict=True):
        found.setdefault(document, []).append(subtopics.name[number])
    return found


def _covered(view: View, cutoff: int, alpha: float, rel: float | None) -> tuple[list[Row], int]:
    """Return a row for each subtopic of each document of the list, and how many subtopics there are."""
    of, seen = _relevant_to(view, rel), dict[str, int]()
    rows = []
    for line in view.lines(cutoff, rel):
        for subtopic in of.get(line.document, ()):
            before = seen.get(subtopic, 0)
            seen[subtopic] = before + 1
            place = {"rank": line.rank, "document": line.document, "subtopic": subtopic}
            rows.append({**place, "seen": before, "gain": (1 - alpha) ** before})
    return rows, len({subtopic for subtopics in of.values() for subtopic in subtopics})


@explains("StRecall")
def _strecall(view: View, cutoff: int, rel: float | None = None) -> list[Step]:
    rows, every = _covered(view, cutoff, 0.0, rel)
    first = [{name: row[name] for name in ("rank", "document", "subtopic")} for row in rows if not row["seen"]]
    return [
        listed("new subtopics", first, {"cutoff": cutoff}, "no subtopics"),
        over("subtopics covered", len(first), every),
    ]


@explains("ERR_IA")
def _err_ia(view: View, cutoff: int, alpha: float = 0.5, rel: float | None = None) -> list[Step]:
    rows, every = _covered(view, cutoff, alpha, rel)
    rows = [{**row, "term": row["gain"] / row["rank"]} for row in rows]
    together = summed(column(rows, "term"))
    best = summed([(1 - alpha) ** (i - 1) / i for i in range(1, cutoff + 1)])
    scale = {"most": best.numbers["total"], "every": every, "cutoff": cutoff, "alpha": alpha}
    return [
        listed("subtopics", rows, {"alpha": alpha, "cutoff": cutoff}, "no subtopics"),
        together,
        Step("intents end", {**scale, "terms": best.numbers["terms"]}),
        over("over intents", together.numbers["total"], best.numbers["total"] * every, **scale),
    ]


@explains("alpha_nDCG")
def _alpha_ndcg(view: View, cutoff: int, alpha: float = 0.5, rel: float | None = None) -> list[Step]:
    rows = _discounted(_covered(view, cutoff, alpha, rel)[0])
    ideal = _discounted(_greedy(_relevant_to(view, rel), cutoff, alpha))
    own_sum, ideal_sum = (summed(column(each, "quotient")) for each in (rows, ideal))
    return [
        listed("subtopics", rows, {"alpha": alpha, "cutoff": cutoff}, "no subtopics"),
        own_sum,
        listed("greedy ideal", ideal, {"alpha": alpha}, "no ideal"),
        ideal_sum,
        over("dcg over ideal", own_sum.numbers["total"], ideal_sum.numbers["total"]),
    ]


def _discounted(rows: list[Row]) -> list[Row]:
    return [{**row, "discount": log2(row["rank"] + 1), "quotient": row["gain"] / log2(row["rank"] + 1)} for row in rows]


def _greedy(of: dict[str, list[str]], cutoff: int, alpha: float) -> list[Row]:
    """Return the ideal list: at each rank the document of the highest gain, of equals the one of the greatest name."""
    left, worth = dict(of), {subtopic: 1.0 for subtopics in of.values() for subtopic in subtopics}
    rows: list[Row] = []
    for rank in range(1, min(cutoff, len(of)) + 1):
        gains = {document: sum(worth[each] for each in subtopics) for document, subtopics in left.items()}
        document = max(left, key=lambda name: (round(gains[name], 9), name))
        for subtopic in left.pop(document):
            rows.append({"rank": rank, "document": document, "subtopic": subtopic, "gain": worth[subtopic]})
            worth[subtopic] *= 1 - alpha
    return rows
