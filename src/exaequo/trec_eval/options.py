"""The command line of the official program: its letters, its long names, and a few options of ours."""

from __future__ import annotations

import getopt
import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from exaequo.choices import STRATEGIES
from exaequo.trec_eval import OfficialError
from exaequo.trec_eval.catalogue import MEASURES, NICKNAMES, atol

LONG = {
    "help": "h",
    "version": "v",
    "query_eval_wanted": "q",
    "measure": "m",
    "complete_rel_info_wanted": "c",
    "level_for_rel": "l",
    "nosummary": "n",
    "Debug_level": "D",
    "Judged_docs_only": "J",
    "Number_docs_in_coll": "N",
    "Max_retrieved_per_topic": "M",
    "Rel_info_format": "R",
    "Results_format": "T",
    "Output_old_results_format": "o",
    "Zscore": "Z",
}
LETTERS = "hvqm:cl:nD:JN:M:R:T:oZ:"
FORMATS = ("qrels", "prefs", "qrels_prefs", "qrels_jg")

USAGE = """\
usage: exaequo trec_eval [-h -v -q -c -n -J] [-m MEASURE[.PARAMS]]... [-l N]
                         [-M N] [-N N] [-D N] [-R FORMAT] [-T FORMAT] [-Z FILE]
                         [--release 9|10] [--ties STRATEGY] [--mend]
                         REL_INFO RESULTS"""


@dataclass
class CommandLine:
    """What was asked for; the names are those of the long options, shortened."""

    help: bool = False
    version: bool = False
    per_topic: bool = False
    summary: bool = True
    complete: bool = False
    judged_only: bool = False
    level: int = 1
    depth: int | None = None
    collection_size: int = 0
    rel_format: str = "qrels"
    results_format: str = "trec_results"
    zscores: str | None = None
    only_topic: str | None = None
    measures: list[str] = field(default_factory=list)
    release: int = 10
    ties: str = "conventional"
    seed: int = 0
    mend: bool = False
    files: list[str] = field(default_factory=list)


def parse(arguments: Sequence[str]) -> CommandLine:
    """Read the arguments as getopt_long does: values joined or apart, options anywhere, long names cut short."""
    takes = {letter for letter, more in zip(LETTERS, LETTERS[1:] + " ", strict=True) if more == ":"}
    # The long form of -o takes a value, which is ignored, as everything about -o is.
    long = [name + ("=" if letter in takes or letter == "o" else "") for name, letter in LONG.items()]
    # Not one of its long names: those may be cut short, and --m is --measure.
    theirs = [each for each in arguments if each != "--mend"]
    try:
        pairs, files = getopt.gnu_getopt(theirs, LETTERS, [*long, "release=", "ties=", "seed="])
    except getopt.GetoptError as error:
        all_ = "; all measures are -m all_trec since release 9" if error.opt == "a" else ""
        raise OfficialError(1, f"{error}{all_}\n{USAGE}") from None
    options = CommandLine(files=files, mend=len(theirs) < len(arguments))
    for name, value in pairs:
        _set(options, LONG.get(name[2:], name[1:]) if name.startswith("--") else name[1:], value)
    return options


def _set(options: CommandLine, letter: str, value: str) -> None:
    if letter in ("l", "M") and (atol(value) < 0 or not re.match(r"\s*[+-]?[0-9]", value)):
        raise OfficialError(1, f"-{letter} is {value}; expected a whole number ≥ 0.")
    if letter == "-release" and value not in ("9", "10"):
        raise OfficialError(1, f"--release is {value!r}; expected 9 or 10.")
    if letter == "-ties" and value not in STRATEGIES:
        raise OfficialError(1, f"--ties is {value!r}; expected one of {', '.join(STRATEGIES)}.")
    if letter == "m":
        options.measures.append(value)
    elif letter in _FIELDS:
        name, made = _FIELDS[letter]
        setattr(options, name, made(value) if callable(made) else made)


#: The field each letter sets, and to what: a constant, or what is made of the value.
_FIELDS: dict[str, tuple[str, bool | Callable[[str], int | str | None]]] = {
    "h": ("help", True),
    "v": ("version", True),
    "q": ("per_topic", True),
    "n": ("summary", False),
    "c": ("complete", True),
    "J": ("judged_only", True),
    "l": ("level", atol),
    "N": ("collection_size", atol),
    "M": ("depth", atol),
    "R": ("rel_format", str),
    "T": ("results_format", str),
    "Z": ("zscores", str),
    "D": ("only_topic", lambda value: value.partition(".")[2] if "." in value else None),
    "-release": ("release", int),
    "-ties": ("ties", str),
    "-seed": ("seed", atol),
}


def help_text(options: CommandLine) -> str:
    """Explain the command, and the measures and nicknames there are."""
    measures = [official.name for official in MEASURES if official.since <= options.release]
    return f"""{USAGE}

Prints what the official trec_eval prints, for release 10.0 (or 9.0.8 with
--release 9). '-' is standard input.

 -q, --query_eval_wanted            also print the figures of each topic
 -n, --nosummary                    do not print the figures of all topics
 -c, --complete_rel_info_wanted     average over all judged topics; missing
                                    ones score 0
 -m, --measure NAME[.PARAMS]        a measure, such as map, P.5,10,
                                    ndcg_cut.10, ndcg.1=3,2=9, or a nickname
 -l, --level_for_rel N              least judgment that is relevant (1)
 -J, --Judged_docs_only             drop documents nobody judged
 -M, --Max_retrieved_per_topic N    look at the first N documents only
 -N, --Number_docs_in_coll N        size of the collection, for utility
 -R, --Rel_info_format FORMAT       {", ".join(FORMATS)}
 -T, --Results_format FORMAT        trec_results
 -Z, --Zscore FILE                  print z-scores against the means and
                                    deviations in FILE
 -D, --Debug_level N[.TOPIC]        only this topic; there is no debugging
                                    output
 -h, --help                         this; with -m what the measure is
 -v, --version

     --release 9|10                 which release to follow (10)
     --ties STRATEGY                {", ".join(STRATEGIES[:3])},
                                    {", ".join(STRATEGIES[3:])} (conventional)
     --seed N                       for --ties random
     --mend                         put right what is wrong with files where
                                    that is safe, and say so

{textwrap.fill(f"measures: {' '.join(measures)}", 79)}
{textwrap.fill(f"nicknames: {' '.join(NICKNAMES)}", 79)}"""
