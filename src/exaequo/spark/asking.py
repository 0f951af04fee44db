"""What is asked of Spark, checked on the driver, and made ready to be sent to the workers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exaequo.choices import ERRORS
from exaequo.errors import ExaequoError
from exaequo.options import check_choice

if TYPE_CHECKING:
    from exaequo.measures import Measure

#: The columns of scores, for Spark.
SCORES = "run string, ties string, topic string, measure string, value double"


def check(errors: str) -> None:
    """Refuse what cannot be asked for, and a Spark that is too old."""
    check_choice("errors", errors, ERRORS)
    try:
        import pyspark
    except ImportError:
        raise ExaequoError("exaequo.spark needs Spark 4: pip install 'exaequo[spark]'") from None
    if int(pyspark.__version__.partition(".")[0]) < 4:
        raise ExaequoError(f"exaequo.spark needs Spark 4 or later. This is {pyspark.__version__}.")


def sent(measures: Any) -> list[str | Measure]:
    """Return what goes to the workers: names, which are read there, and measures that are not ours as they are."""
    from exaequo.measures import parse_measures

    return [each.name if each.definition.ours else each for each in parse_measures(measures)]
