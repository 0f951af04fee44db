"""A provider for ir_measures itself, and so for PyTerrier. In: `import exaequo.ir_measures_provider`. Out: our figures.

From then on ir_measures computes what it can on exaequo's ranking, one for all measures; `choose_ties("realistic")`, or
EXAEQUO_TIES in the environment, says how tied documents are ordered. Its command, with everything it takes:

    python -m exaequo.ir_measures_provider QRELS RUN MEASURE...
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any

try:
    import ir_measures
    from ir_measures.providers import Evaluator, Provider
except ImportError as missing:
    raise ImportError("exaequo.ir_measures_provider needs ir_measures: pip install ir-measures") from missing

from exaequo.compat import choose_ties
from exaequo.compat import ir_measures as ours
from exaequo.compat.ir_measures.notation import NoMeasure
from exaequo.errors import BadParameter, ExaequoError

__all__ = ["ExaequoProvider", "choose_ties", "provider"]


class ExaequoProvider(Provider):
    """All measures that exaequo has, on one ranking."""

    NAME = "exaequo"

    def supports(self, measure: Any) -> bool:
        """Tell whether exaequo has the measure, with its parameters."""
        try:
            return ours.parse_measure(str(measure)).complete is not None
        except (NoMeasure, BadParameter):
            return False

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> Evaluator:
        return ExaequoEvaluator(measures, qrels)


class ExaequoEvaluator(Evaluator):
    """Measures of ir_measures and judgments, to evaluate any number of runs."""

    def __init__(self, measures: Iterable[Any], qrels: Any) -> None:
        self._theirs = {ours.parse_measure(str(measure)): measure for measure in measures}
        self._ours = ours.evaluator(self._theirs, qrels)
        super().__init__(list(self._theirs.values()), set(self._ours.qrel_qids))

    def iter_calc(self, run: Any) -> Iterator[Any]:
        """Yield a metric of ir_measures per topic and measure."""
        for metric in self._ours.iter_calc(run):
            kind = ir_measures.Metric if len(metric) == len(ir_measures.Metric._fields) else ir_measures.CwlMetric
            yield kind(metric[0], self._theirs[metric.measure], *metric[2:])

    _iter_calc = iter_calc


_original: Any = ir_measures
_made: Any = ExaequoProvider
#: The provider that is asked first, but for measures made at run time.
provider = _original.providers.register(_made())
if all(each.NAME != provider.NAME for each in ir_measures.DefaultPipeline.providers):
    _original.DefaultPipeline.providers.insert(1, provider)


def main() -> None:
    """Run the command of ir_measures; what is wrong with the input is one line, and exit code 1 or 2."""
    command: Any = import_module("ir_measures.__main__")

    try:
        command.main_cli()
    except ExaequoError as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(error.exit_code) from None


if __name__ == "__main__":
    main()
