"""The words of the page, explained: those of ties and statistics, and the measures. In: a `Comparison`. Out: notes."""

from __future__ import annotations

from exaequo.choices import EXPECTED
from exaequo.comparison import Comparison
from exaequo.explanation.wording import Wording
from exaequo.language import say, spoken, strategy
from exaequo.measures import Measure, parse_measure
from exaequo.reporting.facts import DEEPEST_HIT, FIRST

Note = dict[str, str]


def notes_of(result: Comparison) -> list[Note]:
    """Return the notes on ties and statistics: under which key, the word, and what it means."""
    found = {**_on_ties(result), **_on_tests(result)}
    return [{"key": key, "name": name, "text": text} for key, (name, text) in found.items()]


def _on_ties(result: Comparison) -> dict[str, tuple[str, str]]:
    return {
        "tie": (
            say("tie"),
            say(
                "Documents of one list with the same score. The run does not say which comes first, so a program puts "
                "them in some order, often by name. Where relevant and other documents are tied, that order changes "
                "the score though the system did nothing."
            ),
        ),
        **{name: (strategy(name), text) for name, text in _strategies().items() if name in result.scores.ties},
        "open": (
            say("what ties leave open"),
            say(
                "From the worst to the best score that the orders of tied documents allow. A run without ties has one "
                "score; the wider the span, the more of it is luck."
            ),
        ),
        "decide": (
            say("ties decide"),
            say("Realistic, expected and optimistic orders disagree on which run is better: no verdict is given."),
        ),
        "budget": (
            say("left open"),
            say(
                "A score would be another with tied documents in another order, with judgments of documents nobody "
                "judged, or on other topics. Each of these leaves an interval, and its width says how much it matters. "
                "Together: other topics are drawn, each with ties and unjudged documents at their worst and their "
                "best; what is likely lies well inside. Work pays most on the largest."
            ),
        ),
    }


def _on_tests(result: Comparison) -> dict[str, tuple[str, str]]:
    return {
        "interval": (
            say("interval"),
            say(
                "Other topics would give other means. With {sure:g} % confidence the true value lies in this range; "
                "an interval of a difference that leaves out 0 speaks for a real difference.",
                sure=100 * (1 - result.plan.alpha),
            ),
        ),
        "p": (
            "p",
            say(
                "How often chance alone would give a difference at least this large, if the two runs were equally "
                "good. Below {alpha:g} it is taken as real.",
                alpha=result.plan.alpha,
            ),
        ),
        "correction": (_correction(result), _corrected(result)),
        "judged": (
            say("judged"),
            say(
                "Somebody looked at the document for this topic and graded it. What nobody judged counts as not "
                "relevant, which may wrong a run that finds what others do not. The first {first} ranks are looked at.",
                first=FIRST,
            ),
        ),
    }


def _strategies() -> dict[str, str]:
    return {
        "realistic": say(
            "Of tied documents, the relevant ones last: the least the list is worth. The means, tests and lists of "
            "this page are realistic, so that no run gains by ties."
        ),
        "conventional": say("Tied documents by name, as trec_eval orders them: luck, but the same luck each time."),
        EXPECTED: say("The mean over all orders of the tied documents: what a coin would give on average."),
        "optimistic": say("Of tied documents, the relevant ones first: the most the list could be worth."),
    }


def _correction(result: Comparison) -> str:
    names = {"holm": "Holm", "bonferroni": "Bonferroni", "bh": "BH", "by": "BY"}
    return names.get(result.plan.correction, result.plan.name)


def _corrected(result: Comparison) -> str:
    """Say what the correction is for."""
    if result.plan.correction == "none":
        return say("Each p is of its pair alone: of many pairs, some look different by chance.")
    return say(
        "Of many pairs, some look different by chance alone. The correction makes p stricter, the more pairs "
        "({n:,} here) are tested together.",
        n=max(result.family, 1),
    )


def measures_of(result: Comparison) -> list[Note]:
    """Explain the measures the page shows: those asked for, and what is drawn besides."""
    words = Wording(spoken())
    asked, also = list(result.scores.measures), parse_measure(f"PRES@{DEEPEST_HIT}")
    if len(result.scores.runs) > 1 and also not in asked:
        asked.append(also)
    return [_note(measure, words) for measure in asked]


def _note(measure: Measure, words: Wording) -> Note:
    about = words.about(measure)
    return {
        "name": measure.name,
        "title": about["title"],
        "formula": about["formula"],
        "source": measure.definition.source,
        "note": "" if measure.definition.higher_is_better else say("Less is better."),
    }
