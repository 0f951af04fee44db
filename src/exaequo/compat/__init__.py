"""Drop-ins: `from exaequo.compat import pytrec_eval` for `import pytrec_eval`, and so for ir_measures and ranx.

`install` puts them in the place of the originals, for programs that cannot be changed; so does

    python -m exaequo.compat script.py

`choose_ties`, or the variable EXAEQUO_TIES, says how they order tied documents where nothing else is said.
"""

from __future__ import annotations

import os

from exaequo.choices import STRATEGIES

__all__ = ["choose_ties", "default_ties", "install"]

#: The variable that names a tie strategy for all drop-ins.
VARIABLE = "EXAEQUO_TIES"
_chosen: str | None = None


def choose_ties(strategy: str | None) -> None:
    """Order tied documents this way wherever no `ties=` is given; None is what the originals do."""
    from exaequo.options import one_strategy

    global _chosen
    _chosen = None if strategy is None else one_strategy(strategy)


def default_ties(original: str = "conventional") -> str:
    """Return the strategy that was chosen, or that of the original."""
    named = os.environ.get(VARIABLE)
    if named and not _chosen:
        from exaequo.options import check_choice

        check_choice(VARIABLE, named, STRATEGIES)
    return _chosen or named or original


def install(*names: str) -> None:
    """Put drop-ins in the place of the originals, for this process: these, or all. Call it before they are imported."""
    from exaequo.compat._standing_in import stand_in

    stand_in(names)
