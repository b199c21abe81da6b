"""A curator to try: an invented table and three invented people."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path

from dpstats.accounting.budgets import Budget
from dpstats.curator.catalog.catalog import Catalog
from dpstats.data import survey
from dpstats.foundations.errors import MissingExtraError
from dpstats.web.office import Office
from dpstats.web.people.roles import Role
from dpstats.web.settings import ORIGIN, read_settings

OWNER, ANALYST, AUDITOR = "olga", "ana", "aron"
PEOPLE = {OWNER: (Role.OWNER, Role.ADMIN), ANALYST: (Role.ANALYST,), AUDITOR: (Role.AUDITOR,)}
TABLE = "survey"
REGIONS = ("Arnmouth", "Belhollow", "Corrigate", "Dunsholt", "Estrava", "Fennick")
_SETTINGS = """\
ledger = "curator.ledger"
registrations = "catalog.sqlite"
roots = ["tables"]

[web]
title = "Statistics of an invented office"
people = "people.sqlite"
origin = "{origin}"
workers = 1
"""


@dataclass(frozen=True)
class Demo:
    """What was made: the settings of a service, and how its people sign in."""

    settings: Path
    passwords: dict[str, str]


def make_demo(folder: Path, origin: str = ORIGIN) -> Demo:
    """A catalog with its people in an empty folder."""
    try:
        import polars
    except ImportError:
        raise MissingExtraError.about("the demo needs polars", "files") from None
    (folder / "tables").mkdir()
    polars.DataFrame(survey()).write_parquet(folder / "tables" / "survey.parquet")
    settings = folder / "catalog.toml"
    settings.write_text(_SETTINGS.format(origin=origin), encoding="utf-8")
    catalog, web = read_settings(settings)
    passwords = {name: secrets.token_urlsafe(12) for name in PEOPLE}
    with Office(Catalog(catalog), web) as office:
        for name, roles in PEOPLE.items():
            office.people.add(name, passwords[name], roles)
        _open_survey(office.catalog)
    return Demo(settings, passwords)


def _open_survey(catalog: Catalog) -> None:
    said = {"actor": OWNER, "why": "a demonstration"}
    catalog.register(
        TABLE,
        "survey.parquet",
        owner=OWNER,
        unit="person",
        max_rows_per_unit=1,
        budget=Budget(epsilon=5),
        keys={"region": REGIONS},
        policy={"rows": 5_000},
    )
    catalog.confirm(TABLE, **said)
    catalog.grant(TABLE, analyst=ANALYST, budget=Budget(epsilon=2), **said)
