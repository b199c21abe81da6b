"""Settings of a catalog, as TOML or as a dict.

    ledger = "curator.ledger"            # or a postgresql:// URL, which has no witness and no key unless they are named:
    witness = "curator.witness"          # remembers how far the ledger went
    key = "curator.key"                  # signs it; made by `dpstats ledger key`
    registrations = "catalog.sqlite"
    roots = ["tables"]                   # folders that files may be registered from
    hosts = ["db.example.org"]           # of databases
    buckets = ["clinic-tables"]          # of objects (s3://clinic-tables/...)
    second_person = true                 # somebody else than the owner confirms a draft
    processes = 2                        # that work on paid questions
    memory = 4_000_000_000               # bytes for each of them
    slots = 4                            # paid questions of one analyst at a time
    plan_processes = 0                   # that simulate plans which are not in the stored tables; 0: none is simulated

Paths are those from the folder of the file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path, PurePath
from typing import Any

from dpstats.curator.catalog.places import AllowedPlaces
from dpstats.curator.documents.values import refuse_unknown
from dpstats.curator.jobs.pool import MEMORY
from dpstats.curator.jobs.slots import SLOTS
from dpstats.curator.ledger.ledger import Ledger, open_ledger
from dpstats.foundations.addresses import is_no_path
from dpstats.foundations.errors import DataFileError, InvalidParameterError, LedgerError, MissingParameterError

_LEAST_MEMORY = 2**29
WEB = "web"
"""The table of settings that is for the service over HTTP, which reads it by itself."""


@dataclass(frozen=True)
class CatalogSettings:
    """What a catalog is made with."""

    ledger: str
    registrations: str
    witness: str | None = None
    key: str | None = None
    roots: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    buckets: tuple[str, ...] = ()
    second_person: bool = False
    processes: int = 2
    memory: int = MEMORY
    slots: int = SLOTS
    plan_processes: int = 0

    @property
    def places(self) -> AllowedPlaces:
        """Where its tables may lie."""
        return AllowedPlaces(tuple(map(Path, self.roots)), self.hosts, self.buckets)

    def open_ledger(self) -> Ledger:
        """The ledger, signed if a key is named."""
        if self.key is not None and not Path(self.key).exists():
            raise LedgerError(f"there is no key {self.key}: make it with `dpstats ledger key LEDGER --key-file {self.key}`.")
        return open_ledger(self.ledger, witness=self.witness, key=self.key)

    @classmethod
    def read(cls, given: str | PurePath | Mapping[str, Any]) -> CatalogSettings:
        """The settings in a TOML file, or in a dict."""
        folder = Path()
        if isinstance(given, (str, PurePath)):
            path = Path(given)
            folder = path.absolute().parent
            given = read_toml(path)
        given = {str(name): value for name, value in given.items() if name != WEB}
        words = [each.name for each in fields(cls)]
        for name in given:
            if name not in words:
                refuse_unknown("a catalog", name, words)
        for name in _NEEDED:
            if name not in given:
                raise MissingParameterError(f"a catalog needs {name}: for example {name} = {_EXAMPLES[name]!r}.")
        lists: dict[str, Any] = {name: _texts(name, given[name]) for name in ("roots", "hosts", "buckets") if name in given}
        settings = cls(**{**given, **lists})
        settings._check()
        place = {name: _from(folder, named) for name in _EXAMPLES if (named := getattr(settings, name)) is not None}
        return cls(**{**vars(settings), **place, "roots": tuple(_from(folder, root) for root in settings.roots)})

    def _check(self) -> None:
        for name, example in _EXAMPLES.items():
            place = getattr(self, name)
            is_left_out = place is None and name not in _NEEDED
            if not is_left_out and (not isinstance(place, str) or not place):
                raise InvalidParameterError(f"{name} must be a path, such as {example!r}.")
        for name, least in (("processes", 1), ("memory", _LEAST_MEMORY), ("slots", 1), ("plan_processes", 0)):
            if type(getattr(self, name)) is not int or getattr(self, name) < least:
                raise InvalidParameterError(f"{name} must be a whole number of at least {least:,}.")
        if type(self.second_person) is not bool:
            raise InvalidParameterError("second_person must be true or false.")


_NEEDED = ("ledger", "registrations")
_EXAMPLES = {
    "ledger": "curator.ledger",
    "registrations": "catalog.sqlite",
    "witness": "curator.witness",
    "key": "curator.key",
}


def read_toml(path: Path) -> dict[str, Any]:
    """The settings in a TOML file."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError:
        raise DataFileError(f"there is no file {path} that can be read.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidParameterError(f"{path} is not TOML: {error}.") from None


def _texts(name: str, given: object) -> tuple[str, ...]:
    if not isinstance(given, (list, tuple)) or not all(isinstance(each, str) and each for each in given):
        raise InvalidParameterError(f"{name} must be a list of texts.")
    return tuple(given)


def _from(folder: Path, place: str) -> str:
    return place if is_no_path(place) or place == ":memory:" else str(folder / place)
