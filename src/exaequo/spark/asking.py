"""What is asked of Spark, checked on the driver: one record, ready to be sent to the workers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from exaequo.choices import ERRORS
from exaequo.errors import BadParameter, ExaequoError
from exaequo.measures import Measure, parse_measures
from exaequo.options import Options, Scoring, check_choice, keywords

#: The columns of scores, for Spark.
SCORES = "run string, ties string, topic string, measure string, value double"
#: Runs are spread over so many tasks for each topic, at most: judgments are copied as often.
SALTS = 16


class Spread(Scoring, total=False):
    """How frames are read and spread over tasks, and lists evaluated.

    - `columns`: the names of `run` (or `run_id`), `qid`, `docno`, `sim`, `rel` in the frames, where they are not the
      usual ones.
    - `errors`: rows without id or finite number, and documents that are there again, `"raise"` an error that names run
      and topic, or are left out (`"drop"`; the best score is kept). `bad_rows` lists them.
    - `salts`: runs of a topic are spread over so many tasks; judgments are copied at most as often.
    """

    columns: Mapping[str, str] | None
    errors: str
    salts: int


class Scored(Spread, total=False):
    """The same, where values are computed.

    - `samples`: orders of ties to sample where an expected value has no closed form and there are too many orders.
    """

    samples: int


@dataclass(frozen=True)
class Request:
    """What to make of frames, and how; it goes to the workers as it is."""

    options: Options
    measures: tuple[Measure, ...] = ()
    columns: Mapping[str, str] | None = None
    errors: str = ERRORS[0]
    salts: int = SALTS

    @classmethod
    def of(
        cls, function: str, given: Mapping[str, Any], known: Collection[str], *, measures: Any = None, **options: Any
    ) -> Request:
        """Return what a public function is asked for by its keywords; `options` are those it says itself."""
        reading, rest = keywords(function, given, known)
        own = {name: rest.pop(name) for name in ("errors", "salts") if name in rest}
        asked = () if measures is None else tuple(parse_measures(measures))
        return cls(Options.of(**{**rest, **options}), asked, reading.get("columns"), **own)

    def __post_init__(self) -> None:
        check_spark()
        check_choice("errors", self.errors, ERRORS)
        if isinstance(self.salts, bool) or not isinstance(self.salts, int) or self.salts < 1:
            raise BadParameter(f"salts must be a whole number ≥ 1. Got {self.salts!r} instead.")


def check_spark() -> None:
    """Refuse a Spark that is too old, or not there."""
    try:
        import pyspark
    except ImportError:
        raise ExaequoError("exaequo.spark needs Spark 4: pip install 'exaequo[spark]'") from None
    if int(pyspark.__version__.partition(".")[0]) < 4:
        raise ExaequoError(f"exaequo.spark needs Spark 4 or later. This is {pyspark.__version__}.")
