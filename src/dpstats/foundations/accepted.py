"""The types of what callers may give: numbers, columns, tables of columns, labels.

Type checkers read them; nothing is checked by them when a program runs. `dpstats.typing` shows the public ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np

from dpstats.foundations.privacy import Neighbors


class Elements(Protocol):
    """Several values in their order: a list, a tuple, a numpy array, a pandas or polars Series; but not a text."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __contains__(self, element: object, /) -> bool: ...  # a text, which holds only texts, has another one


class ArrowElements(Protocol):
    """An array, a chunked array or a table of arrow."""

    def __len__(self) -> int: ...
    def to_pylist(self) -> list[Any]:
        """The elements, or the rows, as a list."""
        ...


class DataFrameLike(Protocol):
    """A data frame of pandas or polars, or another that has a length and columns."""

    def __len__(self) -> int: ...
    @property
    def columns(self) -> Any:
        """The names of its columns."""
        ...


class FrozenLaw(Protocol):
    """A distribution of scipy.stats."""

    def fit(self, data: Any, /, *args: Any, **kwds: Any) -> Any:
        """Its parameters by maximum likelihood."""
        ...


class Model(Protocol):
    """A model of one's own for `mle`, such as a `dpstats.LikelihoodModel`."""

    def fit_blocks(self, *args: Any, **kwds: Any) -> Any:
        """Its parameters in each of many blocks of rows."""
        ...


class Estimator(Protocol):
    """A model of scikit-learn, or another that fits and predicts as those do."""

    def fit(self, X: Any, y: Any) -> Any:  # noqa: N803  (scikit-learn calls features X)
        """Fit it to rows."""
        ...

    def predict(self, X: Any) -> Any:  # noqa: N803
        """The predicted outcomes of rows."""
        ...


Number: TypeAlias = int | float | str | Fraction | Decimal | np.number[Any]
"""A number as its owner writes it: 0.1, "0.1", "1/10", Fraction(1, 10) and Decimal("0.1") are the same one."""
Rows: TypeAlias = Elements | ArrowElements
"""One column: a list, a numpy array, a pandas or polars Series, an arrow array."""
Columns: TypeAlias = Rows | DataFrameLike | Mapping[str, Rows]
"""Columns of the same rows: a two-dimensional array, a data frame, an arrow table, a dict of columns, a list of rows."""
NeighborsName: TypeAlias = Neighbors | Literal["add_remove", "change_one"]
"""What one unit can change."""
Blocks: TypeAlias = int | Literal["auto"]
"""A number of blocks, or "auto"."""
Ends: TypeAlias = Sequence[Number] | Sequence[Sequence[Number]] | None
"""The lower and the upper end of a public range, or such ends for each of several numbers."""
Bounds: TypeAlias = Mapping[str, Sequence[float]] | Sequence[float] | Sequence[Sequence[float]] | None
"""Public ranges of parameters: by name, or one for each in their order."""
ColumnNames: TypeAlias = str | Sequence[str]
"""A column of a protected table by its name, or several in a list."""


def literal_of(names: Iterable[str]) -> Any:
    """The type of texts that are one of these names."""
    return Literal.__getitem__(tuple(names))


def several_of(names: Iterable[str]) -> Any:
    """The type of lists of such texts."""
    listed: Any = Sequence
    return listed[literal_of(names)]
