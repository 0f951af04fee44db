"""How to compare: the test, its correction, intervals, and when ties let a verdict be one. In: choices. Out: `Plan`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from exaequo.choices import (
    COMPARED,
    CORRECTIONS,
    DECIDING,
    FAIR,
    INTERVAL_KINDS,
    JOINT,
    LIBRARY_CORRECTIONS,
    PATTERNS,
    ROBUST,
)
from exaequo.comparison.margin import Margin
from exaequo.errors import BadParameter
from exaequo.language import word
from exaequo.options import check_alpha, check_choice, strategies
from exaequo.stats.corrections import corrected
from exaequo.stats.signedrank import MOST_COUNTED
from exaequo.stats.tests import MOST_EXACT, TESTS, Setting
from exaequo.text import count

#: What the procedures over a whole family of pairs are called in sentences.
_NAMES = {"tukey": "Tukey HSD", "randomised-tukey": "randomised Tukey HSD", "nemenyi": "Nemenyi", "dunnett": "Dunnett"}
#: Verdicts where all strategies that were asked for by name agree.
AGREE = "agree"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How to compare.

    `ties` is the rule of verdicts: `fair` (realistic, expected and optimistic agree), `robust` (it holds even with one
    run at its worst and the other at its best), or `agree` (all strategies that the scores have agree). `single` asks
    for intervals of each pair by itself, `jointly` corrects over all measures, `margin` is what is practically nothing.
    """

    baseline: str | None = None
    test: str = "t"
    correction: str = "holm"
    alternative: str = "two-sided"
    alpha: float = 0.05
    samples: int = PATTERNS
    seed: int = 0
    interval: str = "auto"
    ties: str = FAIR
    single: bool = False
    jointly: bool = False
    margin: Margin | None = None

    def __post_init__(self) -> None:
        check_choice("test", self.test, tuple(TESTS))
        check_choice("interval", self.interval, INTERVAL_KINDS)
        check_choice("correction", self.correction, (*CORRECTIONS, *LIBRARY_CORRECTIONS))
        check_choice("ties", self.ties, (FAIR, ROBUST, AGREE))
        check_alpha(self.alpha)
        name = _NAMES.get(self.correction, "")
        if self.correction == "dunnett" and self.baseline is None:
            raise BadParameter("Dunnett's test compares all with a baseline: name it, or correct with tukey.")
        if self.joint and self.correction != "dunnett" and self.baseline is not None:
            raise BadParameter(f"{name} compares all pairs; leave the baseline out, or correct with holm or dunnett.")
        if self.joint and self.correction != "dunnett" and self.alternative != "two-sided":
            raise BadParameter(f"{name} is two-sided.")
        if self.joint and self.ties == ROBUST:
            raise BadParameter(f"{name} looks at all runs under one order; robust verdicts need a test of pairs.")
        if self.alternative != "two-sided" and self.baseline is None:
            raise BadParameter("A one-sided comparison needs a baseline: which of two runs is asked about?")
        self.setting  # noqa: B018 - checks the rest

    @property
    def setting(self) -> Setting:
        """What the tests need to know."""
        return Setting(self.samples, self.seed, self.alternative)

    @property
    def joint(self) -> bool:
        """Tell whether a procedure over all pairs takes the place of the test."""
        return self.correction in JOINT

    @property
    def sides(self) -> int:
        """2, or 1 where only one direction is asked about."""
        return 2 if self.alternative == "two-sided" else 1

    @property
    def name(self) -> str:
        """The test and its correction in words."""
        if self.joint:
            parts = [word(_NAMES[self.correction])]
        else:
            correction = {"bh": "BH", "by": "BY"}.get(self.correction, self.correction)
            parts = [word(self.test), *([] if correction == "none" else [correction])]
        return ", ".join([*parts, *([word("one-sided")] if self.sides == 1 else [])])

    def decides(self, ties: Sequence[str]) -> list[str]:
        """Return the strategies, of those there are, that must agree for a verdict."""
        if self.ties == AGREE:
            return list(ties)
        if self.ties == ROBUST and not {*DECIDING} <= {*ties}:
            raise BadParameter(f"Robust verdicts need scores under {', '.join(DECIDING)} ties. Got {', '.join(ties)}.")
        return [each for each in DECIDING if each in ties] or [ties[0]]

    def level(self, family: int) -> float:
        """Return the level of each of so many pairs at which all hold together: Bonferroni's, Šidák's, or BY's."""
        family = max(family, 1)
        if self.correction == "none":
            return self.alpha
        if "sidak" in self.correction:
            return float(1 - (1 - self.alpha) ** (1 / family))
        stricter = float((1 / np.arange(1, family + 1)).sum()) if self.correction in ("by", "fdr_by") else 1.0
        return self.alpha / (family * stricter)

    def simultaneous(self, family: int) -> bool:
        """Tell whether the intervals of so many pairs hold together."""
        return family > 1 and not self.single and self.correction != "none"

    @property
    def interval_kind(self) -> str:
        """What intervals are: t, bca or percentile."""
        if self.interval != "auto":
            return self.interval
        return "bca" if self.test == "bootstrap" and not self.joint else "t"

    @property
    def own_intervals(self) -> bool:
        """Tell whether p and intervals are of one procedure, so that they say the same but for the correction."""
        return self.interval_kind == "t" and (self.correction != "nemenyi" if self.joint else self.test == "t")

    def drawn(self, topics: int) -> bool:
        """Tell whether the test draws random patterns, with so many topics."""
        if self.joint:
            return self.correction == "randomised-tukey"
        return self.test == "bootstrap" or (self.test == "randomization" and topics > MOST_EXACT)

    def weakness(self, pairs: int, topics: int, measures: int = 1) -> str | None:
        """Say why nothing can be significant, if the test is too coarse for so many pairs of each measure, or None."""
        share = measures if self.jointly else 1
        drawn = self.drawn(topics)
        counted = self.test in ("sign", "randomization") or (self.test == "wilcoxon" and topics <= MOST_COUNTED)
        if not pairs or not (drawn or (counted and not self.joint)):
            return None
        least = 1 / (self.samples + 1) if drawn else min(1.0, self.sides / 2**topics)
        if self.joint:
            least *= share
        else:  # at best all pairs are as clear as can be
            least = float(corrected(self.correction, np.full(pairs * share, least), self.alpha).min())
        if least < self.alpha:
            return None
        many = share if self.joint else pairs * share
        more = f"take more --samples than {round(many / self.alpha):,}, or another correction"
        mend = more if drawn else "more topics are needed"
        what = count(pairs * share, "pair")
        return f"with {what} the least corrected p is {least:.2g}, so nothing can be significant: {mend}"


def tie_rule(ties: str | Sequence[str]) -> tuple[tuple[str, ...], str]:
    """Return the strategies to evaluate, and the rule of verdicts: fair and robust look at all, a name at itself."""
    asked = (ties,) if isinstance(ties, str) else tuple(ties)
    if len(asked) == 1 and asked[0] in (FAIR, ROBUST):
        return COMPARED, asked[0]
    return strategies(asked), AGREE
