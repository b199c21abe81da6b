"""Levels that a table declares with its types, and that are public with them."""

from __future__ import annotations

from typing import Any


def declared_levels(table: Any) -> dict[str, list[str]]:
    """The categories of the Enum columns of a polars frame; nothing else declares its levels.

    Those of a pandas Categorical, a polars Categorical or an arrow dictionary are found in the rows: they are not public.
    """
    libraries = {cls.__module__.partition(".")[0] for cls in type(table).__mro__}
    if "polars" not in libraries or not hasattr(table, "collect_schema"):
        return {}
    types = {name: kind for name, kind in table.collect_schema().items() if type(kind).__name__ == "Enum"}
    return {name: [str(label) for label in kind.categories] for name, kind in types.items()}
