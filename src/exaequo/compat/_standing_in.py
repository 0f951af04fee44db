"""Drop-ins in the place of the originals. In: names of packages. Out: `import ir_measures` finds the drop-in."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module

from exaequo.options import check_choice

_MEASURES = (
    "accuracy ap base bpm bpref compat diversity err infap inst iprec judged ndcg nerr numq numrel numret p r rbp "
    "rprec rr sdcg set_measures success"
)
_PROVIDERS = (
    "accuracy_provider base compat_provider cwl_eval fallback_provider gdeval_provider judged_provider "
    "msmarco_provider pyndeval_provider pytrec_eval_provider ranx_provider runtime_provider trectools_provider"
)
_METRICS = (
    "average_precision bpref dcg f1 hit_rate hits ndcg precision r_precision rank_biased_precision recall "
    "reciprocal_rank"
)
#: The modules of each package, and which of ours has their names.
DROP_INS: dict[str, dict[str, str]] = {
    "pytrec_eval": {"": ""},
    "ir_measures": {
        **{each: each for each in ("", ".measures", ".providers", ".util", ".lazylibs")},
        **{f".measures.{each}": ".measures" for each in _MEASURES.split()},
        **{f".providers.{each}": ".providers" for each in _PROVIDERS.split()},
    },
    "ranx": {
        **{each: each for each in ("", ".metrics")},
        **{f".metrics.{each}": ".metrics" for each in _METRICS.split()},
        **{f".data_structures{each}": ".records" for each in ("", ".qrels", ".run")},
    },
}


def stand_in(names: Iterable[str]) -> None:
    """Put these drop-ins, or all, in the place of the originals."""
    for name in tuple(names) or DROP_INS:
        check_choice("install", name, tuple(DROP_INS))
        for module, ours in DROP_INS[name].items():
            sys.modules[name + module] = import_module(f"exaequo.compat.{name}{ours}")
