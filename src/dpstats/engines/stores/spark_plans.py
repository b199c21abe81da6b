"""Plans of Spark: which of them do nothing but read rows that are stored.

Known are rows in the plan itself, Parquet files with declared columns, and what an eager checkpoint has written down; columns of
them may be chosen and renamed, and rows be spread anew. Everything else counts as computed: it can fail on a row, or read it
differently because of another. So does every plan of Spark Connect, which does not show it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PLANS = "org.apache.spark.sql.catalyst.plans.logical."
_EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions."
_FILES = "org.apache.spark.sql.execution.datasources."
_ROWS = (f"{_PLANS}LocalRelation", f"{_PLANS}Range")
_AROUND = (f"{_PLANS}SubqueryAlias", f"{_PLANS}View", f"{_PLANS}Repartition")
_REBASING = ("spark.sql.parquet.datetimeRebaseModeInRead", "spark.sql.parquet.int96RebaseModeInRead")


def only_reads(frame: DataFrame) -> bool:
    """Whether a frame's rows are stored; False too where that cannot be seen."""
    with suppress(Exception):  # another Spark, in which plans look different
        return _only_reads(frame, frame._jdf.queryExecution().analyzed())
    return False


def _only_reads(frame: DataFrame, plan: Any) -> bool:
    name = _class_of(plan)
    if name in _ROWS:
        return True
    if name == "org.apache.spark.sql.execution.LogicalRDD":
        return bool(plan.rdd().isCheckpointed())
    if name == f"{_FILES}LogicalRelation":
        return _is_parquet(frame, plan)
    is_choice = name == f"{_PLANS}Project" and all(_is_column(chosen) for chosen in _items(plan.projectList()))
    return (is_choice or name in _AROUND) and all(_only_reads(frame, child) for child in _items(plan.children()))


def _is_column(chosen: Any) -> bool:
    """Whether an expression is a column as it is, or under another name."""
    named = chosen.child() if _class_of(chosen) == f"{_EXPRESSIONS}Alias" else chosen
    return _class_of(named) == f"{_EXPRESSIONS}AttributeReference"


def _is_parquet(frame: DataFrame, plan: Any) -> bool:
    """Whether a relation is one of Parquet files, none of whose values Spark refuses, as it may those from before 1582."""
    relation = plan.relation()
    if _class_of(relation) != f"{_FILES}HadoopFsRelation":
        return False
    if _class_of(relation.fileFormat()) != f"{_FILES}parquet.ParquetFileFormat":
        return False
    refuses = any(frame.sparkSession.conf.get(name) == "EXCEPTION" for name in _REBASING)
    if refuses or "rebase" in relation.options().toString().lower():
        return False
    return bool(relation.partitionSchema().isEmpty() or plan.catalogTable().isDefined())  # else types come from folders' names


def _class_of(thing: Any) -> str:
    return str(thing.getClass().getName())


def _items(sequence: Any) -> Iterator[Any]:
    return (sequence.apply(place) for place in range(sequence.size()))
