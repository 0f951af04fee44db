"""The report of a comparison as in ranx. In: means, p-values, wins. Out: text, LaTeX, a dict, a frame, a file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

from exaequo.compat.ranx.records import needed
from exaequo.errors import BadParameter
from exaequo.tabular import Column, Table, latex
from exaequo.writing import write_whole

if TYPE_CHECKING:
    import pandas as pd

_RAISED = dict(zip(ascii_lowercase, "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖ۹ʳˢᵗᵘᵛʷˣʸᶻ", strict=True))
_LABELS = {
    "hits": "Hits",
    "hit_rate": "Hit Rate",
    "precision": "P",
    "recall": "Recall",
    "r-precision": "R-Prec",
    "dcg_burges": "DCG Burges",
    "ndcg_burges": "NDCG Burges",
    "bpref": "BPref",
}
TESTS = {
    "student": "paired Student's t-test",
    "fisher": "Fisher's randomization test",
    "tukey": "Tukey's HSD test",
}


class Pairs(dict[frozenset[str], Any]):
    """What is found by two names, in any order: `pairs["a", "b"]`, `pairs[{"a", "b"}]`."""

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(frozenset(key))


@dataclass(repr=False)
class Report:
    """Means of each model, and which differences are significant: `print(report)`, `report.to_latex()`."""

    model_names: list[str]
    results: dict[str, dict[str, float]]
    comparisons: Pairs
    metrics: list[str]
    max_p: float
    win_tie_loss: Mapping[tuple[str, str], Mapping[str, Mapping[str, int]]]
    rounding_digits: int = 3
    show_percentages: bool = False
    stat_test: str = "student"

    def __post_init__(self) -> None:
        if len(self.model_names) > len(_RAISED):
            raise BadParameter(f"A report has letters for {len(_RAISED)} models. Got {len(self.model_names)} instead.")

    def format_score(self, score: float) -> str:
        """Write a mean, or percent of it with two digits less."""
        if self.show_percentages:
            return f"{100 * score:.{max(0, self.rounding_digits - 2)}f}"
        return f"{score:.{self.rounding_digits}f}"

    def get_metric_label(self, m: str) -> str:
        """Return what a metric is called at the head of a column: `NDCG@10` for `ndcg@10`."""
        name, rest = re.fullmatch(r"(.+?)((?:@\d+)?(?:-l\d+)?)", m).groups()  # type: ignore[union-attr]
        return f"{_LABELS.get(name, name.upper())}{rest}"

    def get_stat_test_label(self, stat_test: str) -> str:
        """Return the name of a test."""
        return TESTS[stat_test]

    def _letters(self, model: str, metric: str) -> str:
        """Return the letters of the models that this one is significantly better than."""
        own = self.results[model][metric]
        return "".join(
            letter
            for letter, other in zip(ascii_lowercase, self.model_names, strict=False)
            if other != model
            and self.comparisons[model, other][metric]["significant"]
            and own > self.results[other][metric]
        )

    def to_table(self) -> str:
        """Return text: a line for each model, with the letters of those it is better than."""
        columns = [["#", *ascii_lowercase[: len(self.model_names)]], ["Model", *self.model_names]]
        for metric in self.metrics:
            cells = [
                self.format_score(self.results[model][metric])
                + "".join(_RAISED[letter] for letter in self._letters(model, metric))
                for model in self.model_names
            ]
            columns.append([self.get_metric_label(metric), *cells])
        return "\n".join("  ".join(row).rstrip() for row in zip(*map(_aligned, columns), strict=True))

    def to_latex(self) -> str:
        """Return a table for LaTeX, with booktabs, the best bold."""
        columns = [Column("#", ascii_lowercase[: len(self.model_names)], right=False)]
        columns.append(Column("Model", self.model_names, right=False))
        for metric in self.metrics:
            shown = [self.format_score(self.results[model][metric]) for model in self.model_names]
            most = max(range(len(shown)), key=lambda at: float(shown[at]))
            marks = [self._letters(model, metric) for model in self.model_names]
            columns.append(Column(self.get_metric_label(metric), shown, right=False, best=[most], marks=marks))
        note = f"Letters: significantly better than that model, {TESTS[self.stat_test]}, p ≤ {self.max_p:g}."
        return latex(Table("", columns, [r"Needs \usepackage{booktabs}.", note]))

    def to_dict(self) -> dict[str, Any]:
        """Return the test, metrics and models, and for each model its means, p-values, wins, ties and losses."""
        whole: dict[str, Any] = {"stat_test": self.stat_test, "metrics": self.metrics, "model_names": self.model_names}
        for model in self.model_names:
            others = [other for other in self.model_names if other != model]
            p_values = {
                other: {metric: self.comparisons[model, other][metric]["p_value"] for metric in self.metrics}
                for other in others
            }
            wins = {other: self.win_tie_loss[model, other] for other in others}
            whole[model] = {"scores": self.results[model], "comparisons": p_values, "win_tie_loss": wins}
        return whole

    def to_dataframe(self) -> pd.DataFrame:
        """Return a pandas frame: `model_names`, and a column for each metric."""
        rows = [{"model_names": model, **self.results[model]} for model in self.model_names]
        frame: pd.DataFrame = needed("pandas", "to_dataframe()").DataFrame(rows)
        return frame

    def save(self, path: str) -> None:
        """Write the dict as JSON."""
        write_whole(path, json.dumps(self.to_dict(), indent=4).encode())

    def print_results(self) -> None:
        """Print the means as JSON."""
        print(json.dumps(self.results, indent=4))  # noqa: T201 - what it is for

    def __repr__(self) -> str:
        return self.to_table()


def _aligned(lines: Sequence[str]) -> list[str]:
    """Return the lines of a column, of one width, with a rule below the head; numbers stand on the right."""
    head, *cells = lines
    width = max(len(head) + 2, *map(len, cells))
    numbers = all(re.fullmatch(r"-?\d+(?:\.\d+)?", cell) for cell in cells)
    side = str.rjust if numbers else str.ljust
    return [side(head, width), "-" * width, *(side(cell, width) for cell in cells)]
