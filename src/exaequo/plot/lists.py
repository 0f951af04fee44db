"""Pictures of lists: recall–precision curves, relevant documents against rank, ties along the ranking, cutoffs."""

from __future__ import annotations

from typing import Any

import numpy as np

from exaequo.errors import BadParameter
from exaequo.measures import Measure, parse_measure
from exaequo.measures.interpolated import best_from_here, interpolated_precision
from exaequo.measures.recall import mor_parts
from exaequo.plot.chart import Chart, apart, channels, chart
from exaequo.plot.data import read, relevant_ranks
from exaequo.read import QrelsLike

_PERCENT = {"domain": [0, 1]}
_LEVELS = [tenth / 10 for tenth in range(11)]


Row = dict[str, Any]


def _quantity(field: str, title: str, **more: Any) -> dict[str, Any]:
    return {"field": field, "type": "quantitative", "title": title, **more}


def _labels(
    ends: list[dict[str, Any]], x: str, y: str, channel: dict[str, Any], least: float, high: float
) -> dict[str, Any]:
    """Names at the ends of lines, moved apart."""
    places = apart([end[y] for end in ends], least, 0.0, high)
    data = [end | {y: place} for end, place in zip(ends, places, strict=True)]
    return {
        "data": {"values": data},
        "mark": {"type": "text", "align": "left", "dx": 8, "clip": False},
        "encoding": {
            "x": {"field": x, "type": "quantitative"},
            "y": {"field": y, "type": "quantitative"},
            "text": {"field": "run", "type": "nominal"},
            "color": channel,
        },
    }


def curve(
    qrels: QrelsLike,
    runs: Any,
    *,
    topic: str | None = None,
    ties: str = "realistic",
    f_lines: bool = False,
    size: str = "page",
    dark: bool = False,
) -> Chart:
    """Recall–precision curves: of one topic, points and interpolated steps; else interpolated, averaged over topics."""
    lists = read(qrels, runs)
    how = channels(lists.names, dark)
    layers: list[dict[str, Any]] = _f_lines() if f_lines else []
    steps, points, faint, ends = [], [], [], []
    for name, ranking in lists.rankings(ties):
        if topic is not None:
            at = lists.topic(topic)
            ranks, n = relevant_ranks(ranking, at), int(ranking.n_rel()[at])
            raw = [(i / n, i / rank) for i, rank in enumerate(ranks, 1)]
            points += [{"run": name, "recall": r, "precision": p} for r, p in raw]
            best = best_from_here(np.array([p for _, p in raw]), np.zeros(len(raw), dtype=np.int64))
            line = [(0.0, float(best[0]) if len(best) else 0.0)]
            line += [(r, float(b)) for (r, _), b in zip(raw, best, strict=True)]
            steps += [{"run": name, "recall": r, "precision": p, "order": i} for i, (r, p) in enumerate(line)]
            ends.append({"run": name, "recall": line[-1][0], "precision": line[-1][1]})
        else:
            table = np.array([interpolated_precision(ranking, level) for level in _LEVELS])
            mean = table.mean(axis=1)
            line = list(zip(_LEVELS, mean.tolist(), strict=True))
            steps += [{"run": name, "recall": r, "precision": p, "order": i} for i, (r, p) in enumerate(line)]
            ends.append({"run": name, "recall": 1.0, "precision": float(mean[-1])})
            if len(lists.names) == 1:
                faint = [
                    {"topic": t, "recall": r, "precision": float(p)}
                    for t, column in zip(lists.judgments.topics, table.T, strict=True)
                    for r, p in zip(_LEVELS, column, strict=True)
                ]
    x = _quantity("recall", "Recall", scale=_PERCENT)
    y = _quantity("precision", "Precision", scale=_PERCENT)
    if faint:
        first_colour = how["color"]["scale"]["range"][0]
        layers.append(
            {
                "data": {"values": faint},
                "mark": {"type": "line", "opacity": 0.18, "strokeWidth": 1},
                "encoding": {"x": x, "y": y, "detail": {"field": "topic"}, "color": {"value": first_colour}},
            }
        )
    interpolate = "step-before" if topic is not None else "linear"
    order = {"field": "order", "type": "quantitative"}
    layers.append(
        {
            "data": {"values": steps},
            "mark": {"type": "line", "interpolate": interpolate, "strokeWidth": 2},
            "encoding": {"x": x, "y": y, "color": how["color"], "strokeDash": how["strokeDash"], "order": order},
        }
    )
    marked = points if topic is not None else steps
    layers.append(
        {
            "data": {"values": marked},
            "mark": {"type": "point", "filled": True, "size": 45},
            "encoding": {"x": x, "y": y, "color": how["color"], "shape": how["shape"]},
        }
    )
    layers.append(_labels(ends, "recall", "precision", how["color"], 0.055, 1.0))
    title = f"Topic {lists.judgments.topics[lists.topic(topic)]}" if topic is not None else "Interpolated precision"
    note = f"{ties} ties" if topic is not None else f"mean over {lists.judgments.n_topics} topics, {ties} ties"
    return chart(layers, title=title, note=note, size=size, dark=dark)


def _f_lines() -> list[dict[str, Any]]:
    """Lines of equal F, with their value at the right."""
    values, names = [], []
    for f in (0.2, 0.4, 0.6, 0.8):
        recalls = np.linspace(f / (2 - f), 1, 60)
        values += [{"f": f, "recall": float(r), "precision": float(f * r / (2 * r - f))} for r in recalls]
        names.append({"recall": 1.0, "precision": f / (2 - f), "text": f"F {f}"})
    line = {
        "data": {"values": values},
        "mark": {"type": "line", "strokeWidth": 1, "strokeDash": [2, 3], "opacity": 0.5, "color": "#888888"},
        "encoding": {
            "x": {"field": "recall", "type": "quantitative"},
            "y": {"field": "precision", "type": "quantitative"},
            "detail": {"field": "f"},
        },
    }
    label = {
        "data": {"values": names},
        "mark": {"type": "text", "align": "right", "dy": -6, "dx": -2, "color": "#888888", "fontSize": 9},
        "encoding": {
            "x": {"field": "recall", "type": "quantitative"},
            "y": {"field": "precision", "type": "quantitative"},
            "text": {"field": "text"},
        },
    }
    return [line, label]


def recall(
    qrels: QrelsLike,
    runs: Any,
    *,
    topic: str | None = None,
    cutoff: int | None = None,
    ties: str = "realistic",
    size: str = "page",
    dark: bool = False,
) -> Chart:
    """Relevant documents against rank, with the best and the worst case of PRES, and h and w of MOR."""
    lists = read(qrels, runs)
    if len(lists.names) != 1:
        raise BadParameter("This picture shows one run; give one.")
    ((name, ranking),) = lists.rankings(ties)
    at = lists.topic(topic)
    ranks, n = relevant_ranks(ranking, at), int(ranking.n_rel()[at])
    most = cutoff or min(100, max(int(ranking.returned[at]), n))
    inside = [rank for rank in ranks if rank <= most]
    parts = mor_parts(ranking, most)
    h, w = int(parts.h[at]), int(parts.w[at])
    end = most + n

    def steps(places: list[int]) -> list[dict[str, Any]]:
        """The number found at each rank where it changes, and at the end."""
        values = [{"rank": 0, "found": 0}, *({"rank": rank, "found": i} for i, rank in enumerate(places, 1))]
        return [*values, {"rank": end, "found": len(places)}]

    own = steps(inside + [most + i for i in range(len(inside) + 1, n + 1)])
    best, worst = steps(list(range(1, n + 1))), steps(list(range(most + 1, most + n + 1)))
    ink = "#56B4E9" if dark else "#0072B2"
    x = _quantity("rank", "Rank", scale={"domain": [0, end], "nice": False})
    y = _quantity("found", "Relevant documents found", axis={"tickMinStep": 1, "format": "d"})
    area = [{"rank": r, "high": b, "low": o} for r, b, o in _between(best, own)]

    def line(data: list[dict[str, Any]], **mark: Any) -> dict[str, Any]:
        return {
            "data": {"values": data},
            "mark": {"type": "line", "interpolate": "step-after", **mark},
            "encoding": {"x": x, "y": y},
        }

    words = [
        {"rank": n, "found": n, "text": "best case", "dy": -8, "align": "left"},
        {"rank": most, "found": 0, "text": "worst case", "dy": -8, "align": "right"},
    ]
    marks = [{"rank": w, "found": h, "text": f"h = {h}, w = {w}"}] if h else []
    layers: list[dict[str, Any]] = [
        {
            "data": {"values": area},
            "mark": {"type": "area", "interpolate": "step-after", "opacity": 0.18, "color": ink},
            "encoding": {"x": x, "y": _quantity("low", "Relevant documents found"), "y2": {"field": "high"}},
        },
        line(best, strokeDash=[6, 3], strokeWidth=1.5, color="#888888"),
        line(worst, strokeDash=[2, 2], strokeWidth=1.5, color="#888888"),
        line(own, strokeWidth=2.5, color=ink),
        {
            "data": {"values": [{"rank": most}]},
            "mark": {"type": "rule", "strokeDash": [4, 4], "opacity": 0.6},
            "encoding": {"x": x},
        },
        {
            "data": {"values": [{"rank": most, "text": f"N = {most}"}]},
            "mark": {"type": "text", "align": "right", "dx": -4, "baseline": "top"},
            "encoding": {"x": x, "y": {"value": 18}, "text": {"field": "text"}},
        },
        *(_word(word, x, y) for word in words),
    ]
    if marks:
        beside = {"dy": -10, "align": "right"} if w > 0.5 * end else {"dy": 14, "align": "left"}
        point = {"type": "point", "filled": True, "size": 90, "color": ink}
        layers += [
            {"data": {"values": marks}, "mark": point, "encoding": {"x": x, "y": y}},
            _word(marks[0] | beside, x, y),
        ]
    figures = f"PRES@{most} {parse_measure(f'PRES@{most}').values(ranking)[at]:.4f}, MOR@{most} {parts.mor[at]:.4f}"
    title = f"{name}, topic {lists.judgments.topics[at]}"
    return chart(layers, title=title, note=f"{figures}, {ties} ties", size=size, dark=dark)


def _between(high: list[dict[str, Any]], low: list[dict[str, Any]]) -> list[tuple[int, int, int]]:
    """Return rank, upper and lower value at every rank where one of two step lines changes."""
    ranks = sorted({each["rank"] for each in (*high, *low)})

    def value(line: list[dict[str, Any]], rank: int) -> int:
        return max(int(each["found"]) for each in line if each["rank"] <= rank)

    return [(rank, value(high, rank), value(low, rank)) for rank in ranks]


def _word(word: dict[str, Any], x: dict[str, Any], y: dict[str, Any]) -> dict[str, Any]:
    return {
        "data": {"values": [{key: word[key] for key in ("rank", "found", "text")}]},
        "mark": {"type": "text", "align": word["align"], "dy": word["dy"], "dx": 4 if word["align"] == "left" else -4},
        "encoding": {"x": x, "y": y, "text": {"field": "text"}},
    }


def single(*, cutoff: int = 10, size: str = "page", dark: bool = False) -> Chart:
    """MOR, PRES and RR against the rank of a single relevant document, up to twice the cutoff."""
    names = [f"MOR@{cutoff}", f"PRES@{cutoff}", "RR"]
    topics = [f"{rank:05}" for rank in range(1, 2 * cutoff + 1)]
    qrels = {topic: {"the one": 1} for topic in topics}
    run = {}
    for rank, topic in enumerate(topics, 1):
        run[topic] = {("the one" if at == rank else f"d{at}"): -float(at) for at in range(1, 2 * cutoff + 1)}
    ((_, ranking),) = read(qrels, run).rankings("realistic")
    values, ends = [], []
    for name in names:
        figures = parse_measure(name).values(ranking)
        values += [{"run": name, "rank": at, "value": float(v)} for at, v in enumerate(figures, 1)]
        ends.append({"run": name, "rank": 2 * cutoff, "value": float(figures[-1])})
    how = channels(names, dark)
    x = _quantity("rank", "Rank of the only relevant document", axis={"tickMinStep": 1})
    y = _quantity("value", "Value", scale=_PERCENT)
    layers = [
        {
            "data": {"values": values},
            "mark": {"type": "line", "strokeWidth": 2},
            "encoding": {"x": x, "y": y, "color": how["color"], "strokeDash": how["strokeDash"]},
        },
        {
            "data": {"values": values},
            "mark": {"type": "point", "filled": True, "size": 40},
            "encoding": {"x": x, "y": y, "color": how["color"], "shape": how["shape"]},
        },
        _labels(ends, "rank", "value", how["color"], 0.06, 1.0),
    ]
    return chart(layers, title="One relevant document", note=f"a reader who looks at {cutoff}", size=size, dark=dark)


def tie_groups(
    qrels: QrelsLike,
    runs: Any,
    *,
    topic: str | None = None,
    depth: int = 100,
    size: str = "page",
    dark: bool = False,
) -> Chart:
    """Where in the ranking the ties are: a bar from the first to the last rank of each, a row per topic, or per run."""
    lists = read(qrels, runs)
    bars = []
    rows: list[str] = []
    for name, ranking in lists.rankings("realistic"):
        groups, relevant = ranking.groups, ranking.relevant()
        inside, _ = groups.counts(relevant)
        chosen = [lists.topic(topic)] if topic is not None or len(lists.names) > 1 else range(lists.judgments.n_topics)
        for at in chosen:
            label = name if len(lists.names) > 1 else f"topic {lists.judgments.topics[at]}"
            rows.append(label)
            for tie in np.flatnonzero((groups.topic == at) & (groups.size > 1) & (groups.before < depth)):
                first, last = int(groups.before[tie]), min(int(groups.before[tie] + groups.size[tie]), depth)
                kind = "mixed" if 0 < inside[tie] < groups.size[tie] else "all alike"
                bars.append({"row": label, "first": first + 0.5, "last": last + 0.5, "kind": kind})
    labels = list(dict.fromkeys(rows))
    mixed, alike = ("#E69F00", "#6E6E78") if dark else ("#D55E00", "#B5B5BD")
    scale = {"domain": ["mixed", "all alike"], "range": [mixed, alike]}
    legend = {"title": None, "orient": "top", "symbolType": "square"}
    paper = "#1B1B1F" if dark else "#FFFFFF"

    def layer(kind: str, band: float) -> Row:
        """Told by the height of the bars too, not by colour alone."""
        return {
            "data": {"values": [bar for bar in bars if bar["kind"] == kind]},
            "mark": {"type": "bar", "height": {"band": band}, "stroke": paper, "strokeWidth": 1},
            "encoding": {
                "x": _quantity("first", "Rank", scale={"domain": [0.5, depth + 0.5], "nice": False}),
                "x2": {"field": "last"},
                "y": {"field": "row", "type": "nominal", "title": None, "sort": None, "scale": {"domain": labels}},
                "color": {"field": "kind", "type": "nominal", "scale": scale, "legend": legend},
            },
        }

    layers = [layer("mixed", 0.8), layer("all alike", 0.35)]
    who = lists.names[0] if len(lists.names) == 1 else f"topic {lists.judgments.topics[lists.topic(topic)]}"
    note = "mixed ties hold relevant and other documents: their order changes scores"
    height = max(60, 18 * len(labels))
    return chart(layers, title=f"Ties of {who}", note=note, size=size, dark=dark, height=height)


def at_k(
    qrels: QrelsLike,
    runs: Any,
    *,
    measure: str = "nDCG",
    depth: int = 50,
    ties: str = "realistic",
    size: str = "page",
    dark: bool = False,
) -> Chart:
    """A measure against its cutoff."""
    lists = read(qrels, runs)
    bare = parse_measure(measure, complete=False) @ 1
    measure = Measure(bare.definition, {k: v for k, v in bare.params.items() if k != "cutoff"}).name
    ks = sorted({k for k in (*range(1, 21), *range(25, 101, 5), *range(120, 1001, 20)) if k <= depth})
    values, ends = [], []
    for name, ranking in lists.rankings(ties):
        figures = [float(np.nanmean((bare @ k).values(ranking))) for k in ks]
        values += [{"run": name, "k": k, "value": v} for k, v in zip(ks, figures, strict=True)]
        ends.append({"run": name, "k": ks[-1], "value": figures[-1]})
    how = channels(lists.names, dark)
    top = max(each["value"] for each in values)
    x = _quantity("k", "Cutoff k", scale={"nice": False, "domain": [1, ks[-1]]})
    y = _quantity("value", f"{measure}@k", scale={"zero": True})
    spec = [
        {
            "data": {"values": values},
            "mark": {"type": "line", "strokeWidth": 2},
            "encoding": {"x": x, "y": y, "color": how["color"], "strokeDash": how["strokeDash"]},
        },
        {
            "data": {"values": [each for each in values if each["k"] in (1, 5, 10, 20, 50, 100, 500, 1000)]},
            "mark": {"type": "point", "filled": True, "size": 45},
            "encoding": {"x": x, "y": y, "color": how["color"], "shape": how["shape"]},
        },
        _labels(ends, "k", "value", how["color"], 0.055 * max(top, 1e-9), max(top, 1e-9)),
    ]
    note = f"mean over {lists.judgments.n_topics} topics, {ties} ties"
    return chart(spec, title=f"{measure} against the cutoff", note=note, size=size, dark=dark)
