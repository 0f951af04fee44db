"""Teams: which runs come from the same people. In: a file, or team → runs. Out: the team of each run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from exaequo.errors import BadParameter, bad_input
from exaequo.gating.slices import read_labels
from exaequo.text import did_you_mean, listed


def read_teams(path: str, runs: Sequence[str]) -> dict[str, list[str]]:
    """Read lines `run team`, or a table (.csv, .tsv) with these heads, about these runs: team → runs."""
    source, lines = read_labels(path, (("run", "run_id"), ("team",)))
    own: dict[str, str] = {}
    teams: dict[str, list[str]] = {}
    for run, team, line in lines:
        if run not in runs:
            mend = "Give it too, or delete the line."
            raise bad_input(source, f"there is no run {run!r}", f"one of {listed(runs)}", mend, line=line)
        if own.setdefault(run, team) != team:
            found = f"the run {run} is in two teams, {own[run]} and {team}"
            raise bad_input(source, found, "one team", "Delete one of the lines.", line=line)
        teams.setdefault(team, []).append(run)
    return teams


def parse_teams(given: Sequence[str]) -> dict[str, list[str]]:
    """Read `NAME=RUN,RUN`: team → runs."""
    teams: dict[str, list[str]] = {}
    for each in given:
        team, separator, runs = each.partition("=")
        names = [name for name in runs.split(",") if name]
        if not (separator and team and names):
            raise BadParameter(f"--team takes NAME=RUN,RUN. Got {each!r}.")
        teams.setdefault(team, []).extend(names)
    return teams


def team_of_each(runs: Sequence[str], teams: Mapping[Any, Any]) -> list[str]:
    """Return the team of each run; a run that none names is a team by itself."""
    own: dict[str, str] = {}
    for team, names in teams.items():
        if isinstance(names, str) or not isinstance(names, Sequence):
            raise BadParameter(f"The team {team!r} must be a list of runs. Got {names!r} instead.")
        for name in map(str, names):
            if name not in runs:
                hint = did_you_mean(name, runs) or f"; there are {', '.join(runs)}."
                raise BadParameter(f"There is no run {name!r} to be in the team {team}{hint}")
            if own.setdefault(name, str(team)) != str(team):
                raise BadParameter(f"The run {name} is in two teams, {own[name]} and {team}.")
    taken = set(own.values())
    for run in runs:
        if run not in own and run in taken:
            raise BadParameter(f"{run} is the name of a team and of a run that is not in it; rename the team.")
    return [own.get(run, run) for run in runs]
