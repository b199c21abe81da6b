"""The recipe of a table: what a process needs to open the same table, with the same rows of each unit, as plain values."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpstats.curator.desk import Desk
from dpstats.curator.group_keys import checked_values
from dpstats.curator.open_columns import MOST_ROWS, OpenColumns
from dpstats.curator.opening import Schema, bounded_rows, open_table
from dpstats.curator.protection import Protection
from dpstats.curator.scope import Scope
from dpstats.engines.stores.kept_columns import KeptColumns
from dpstats.engines.stores.parquet import ParquetStore
from dpstats.engines.stores.store import Store
from dpstats.engines.units.contributions import MissingUnit
from dpstats.engines.views import TableView
from dpstats.foundations.privacy import Neighbors


@dataclass(frozen=True)
class TableRecipe:
    """A stored table, and whom it protects. It says where the rows are: it goes to workers, and to nobody else."""

    name: str
    address: str | tuple[str, ...]
    """A path, a pattern, several paths, or a postgresql:// URL."""
    protection: Protection
    types: Mapping[str, str] = field(default_factory=dict)
    """The types of columns that were declared."""
    keys: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """The values of some columns, where those are public."""
    bounding_key: bytes = b""
    """Decides which rows of a unit are used."""
    edition: str = ""
    """Names the state of the rows."""
    opening: str = ""
    """Names the occasion on which the table was opened: another one is another recipe, so that workers open the table anew, also
    where its rows are the same as before."""

    def desk(self, kept_bytes: int = 0) -> Desk:
        """A desk that answers about the table and charges nobody; for one thread, it may keep columns of files in memory."""
        store, schema = self._opened()
        stays_open = None
        if kept_bytes and isinstance(store, ParquetStore):
            store = KeptColumns(store, kept_bytes)
            stays_open = OpenColumns(store) if store.expected_rows() <= MOST_ROWS else None
        scope = Scope(schema, TableView(schema))
        keys = {name: checked_values(name, scope.kind_of(name), values) for name, values in self.keys.items()}
        rows = bounded_rows(store, schema, self.protection, self.bounding_key)
        return Desk(rows, schema, self.protection, name=self.name, public_keys=keys, open_columns=stays_open)

    def expected_rows(self) -> int | None:
        """About how many rows the table has, where that costs next to nothing to know."""
        tell = getattr(self._opened()[0], "expected_rows", None)
        return None if tell is None else tell()

    def _opened(self) -> tuple[Store, Schema]:
        address = self.address if isinstance(self.address, str) else list(self.address)
        return open_table(address, dict(self.types), self.protection)

    def to_json(self) -> str:
        """The recipe as the one JSON text that it has."""
        protects = self.protection
        plain = {
            "name": self.name,
            "address": self.address,
            "protection": [
                protects.unit,
                protects.rows_per_unit,
                protects.missing_unit.value,
                protects.neighbors.value,
                protects.may_fail,
                protects.found,
                protects.share,
            ],
            "types": dict(self.types),
            "keys": {name: list(values) for name, values in self.keys.items()},
            "bounding_key": self.bounding_key.hex(),
            "edition": self.edition,
            "opening": self.opening,
        }
        return json.dumps(plain, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> TableRecipe:
        """The recipe that `to_json` wrote."""
        plain = json.loads(text)
        unit, rows, missing, neighbors, *more = plain["protection"]
        address = plain["address"] if isinstance(plain["address"], str) else tuple(plain["address"])
        protection = Protection(unit, rows, MissingUnit(missing), Neighbors(neighbors), *more)
        key = bytes.fromhex(plain["bounding_key"])
        named = (plain["edition"], plain["opening"])
        return cls(plain["name"], address, protection, plain["types"], plain["keys"], key, *named)
