"""The catalog: drafts that nobody sees, sources that have one budget, and changes that the ledger keeps."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import dpstats as dp
from dpstats.curator.catalog.catalog import Catalog
from dpstats.curator.catalog.drafts import protection_of_words
from dpstats.curator.catalog.registrations import PlannedGrant
from dpstats.curator.ledger.entries import AMEND, EDITION, GRANT, OPEN, REVOKE
from dpstats.foundations.errors import AccessError, BudgetError, DpstatsError, InvalidParameterError
from tests.curator.catalog.conftest import OFFICE, make_catalog
from tests.curator.ledger.conftest import cut_in_postgres

COUNT = {"version": 1, "statistic": "count", "epsilon": 1}


def said(ask: object, *given: object, **words: object) -> str:
    with pytest.raises(DpstatsError) as complaint:
        ask(*given, **words)  # type: ignore[operator]
    return str(complaint.value)


def test_a_file_without_a_header_is_seen_by_its_owner_alone(root: Path) -> None:
    (root / "bare.csv").write_text("Erika Mustermann,1964-08-12,sick\nMax Mustermann,1970-01-01,well\n")
    with make_catalog(root) as catalog:
        columns = catalog.register("bare", "bare.csv", owner="office", unit="row", budget=dp.Budget(1))
        assert "Erika Mustermann" in columns
        assert catalog.draft("bare", actor="office") == columns
        assert catalog.datasets("alice") == []
        for ask in (catalog.draft, catalog.confirm, catalog.withdraw):
            words = {"actor": "alice", **({"why": "I like to"} if ask == catalog.confirm else {})}
            assert said(ask, "bare", **words) == said(ask, "none", **words).replace("'none'", "'bare'")
        assert said(catalog.desk, "bare") == said(catalog.desk, "none").replace("'none'", "'bare'")
        assert not any("Erika" in entry.body for entry in catalog.ledger.entries())
        catalog.withdraw("bare", actor="office")
        assert catalog.datasets("office") == []


def test_a_second_person_confirms_where_the_settings_say_so(root: Path) -> None:
    with make_catalog(root, second_person=True) as catalog:
        words: dict[str, Any] = {"unit": "person", "max_rows_per_unit": 1, "budget": dp.Budget(1), "population": "persons"}
        catalog.register("survey", "survey.parquet", owner="office", **words)
        assert "somebody else" in said(catalog.confirm, "survey", actor="office", why="mine")
        catalog.confirm("survey", actor="board", why="approved")
        said_by = [(entry.kind, entry.actor) for entry in catalog.ledger.entries()]
        assert said_by == [(kind, "board") for kind in (OPEN, OPEN, EDITION, AMEND)]
        assert said(catalog.grant, "survey", analyst="eve", actor="board", why="x") == said(catalog.desk, "survey2").replace(
            "2", ""
        )


def test_whoever_confirms_opens_what_they_have_seen_and_lets_in_whom_they_have_seen(root: Path) -> None:
    with make_catalog(root, second_person=True) as catalog:
        planned = [PlannedGrant("alice", "course", "1/2"), PlannedGrant(None, "course", "1")]
        catalog.register(
            "survey",
            "survey.parquet",
            owner="office",
            unit="person",
            max_rows_per_unit=1,
            budget=dp.Budget(1),
            policy={"largest_epsilon": 0.5},
            grants=planned,
            second="board",
            undecided=["budget"],
        )
        assert said(catalog.look_at_draft, "survey", actor="eve") == said(catalog.look_at_draft, "none", actor="eve").replace(
            "none", "survey"
        )
        board: dict[str, Any] = {"actor": "board", "why": "approved"}
        seen = catalog.look_at_draft("survey", actor="board").digest
        assert "these are not decided: budget" in said(catalog.confirm, "survey", **board)
        catalog.revise("survey", actor="office", budget=dp.Budget(2), undecided=())
        assert "has changed" in said(catalog.confirm, "survey", **board, seen=seen)
        assert "you may ask" in said(catalog.confirm, "survey", actor="eve", why="me too")
        catalog.confirm("survey", **board, seen=catalog.look_at_draft("survey", actor="board").digest)
        grant = catalog.ledger.reader("survey").granted("alice")
        assert (grant.budget, grant.group) == (dp.Budget("1/2"), "course") if grant else False
        assert catalog.ledger.reader("survey").policy["largest_epsilon"] == "1/2"


def test_a_known_table_has_one_budget_by_whatever_name(catalog: Catalog, root: Path) -> None:
    shutil.copy2(root / "survey.parquet", root / "copy.parquet")
    for name in ("again", "other"):
        catalog.register(name, "survey.parquet", owner="office", unit="person", max_rows_per_unit=1, budget=dp.Budget(100))
        assert "survey" in said(catalog.confirm, name, **OFFICE)
    assert not catalog.ledger.entries()[-1].dataset.startswith(("again", "other"))


def test_tables_of_one_population_share_its_budget(root: Path) -> None:
    pl.DataFrame({"patient": [1, 2, 3], "cost": [1.0, 2.0, 3.0]}).write_parquet(root / "visits.parquet")
    with make_catalog(root) as catalog:
        for name, unit in (("survey", "person"), ("visits", "patient")):
            catalog.register(
                name, f"{name}.parquet", owner="office", unit=unit, max_rows_per_unit=1, budget=dp.Budget(3), population="persons"
            )
            catalog.confirm(name, **OFFICE)
            catalog.grant(name, analyst="alice", **OFFICE)
        catalog.desk("survey").ask({**COUNT, "epsilon": 2}, "alice")
        with pytest.raises(BudgetError, match="for everybody"):
            catalog.desk("visits").ask({**COUNT, "epsilon": 2}, "alice")
        catalog.desk("visits").ask(COUNT, "alice")


def test_new_rows_are_a_new_edition_of_the_same_budget(catalog: Catalog, root: Path) -> None:
    first = catalog.desk("survey").ask(COUNT, "alice")
    assert catalog.desk("survey").ask(COUNT, "bob").value == first.value
    touched = root / "touched.parquet"
    shutil.copy2(root / "survey.parquet", touched)
    touched.replace(root / "survey.parquet")  # another file with the same content
    assert catalog.desk("survey").ask(COUNT, "bob").value == first.value
    assert catalog.ledger.reader("survey").spent.epsilon == 1
    pl.read_parquet(root / "survey.parquet").head(30).write_parquet(root / "survey.parquet")
    catalog.desk("survey").ask(COUNT, "bob")
    assert catalog.ledger.reader("survey").spent.epsilon == 2


def test_a_file_that_was_touched_or_put_back_is_asked_again(catalog: Catalog, root: Path) -> None:
    file, saved = root / "survey.parquet", root.parent / "saved.parquet"
    shutil.copy2(file, saved)
    question = {**COUNT, "epsilon": 20}
    assert catalog.desk("survey").ask(question, "alice").value == 40
    os.utime(file, (1, 1))
    assert catalog.desk("survey").ask({**question, "where": ["income >= 120"]}, "alice").value == 20
    pl.read_parquet(file).head(30).write_parquet(file)
    assert catalog.desk("survey").ask(question, "alice").value == 30
    shutil.copy2(saved, file)
    assert catalog.desk("survey").ask({**question, "where": ["income >= 130"]}, "alice").value == 10
    pool: Any = catalog._pool
    assert len(pool.shelf._sessions) == len(pool.tables) == 1


def test_a_file_that_became_a_link_is_opened_no_more(catalog: Catalog, root: Path, tmp_path: Path) -> None:
    catalog.desk("survey").ask(COUNT, "alice")
    shutil.move(root / "survey.parquet", tmp_path / "elsewhere.parquet")
    (root / "survey.parquet").symlink_to(tmp_path / "elsewhere.parquet")
    complaint = said(catalog.desk("survey").ask, {**COUNT, "where": ["income > 1"]}, "alice")
    assert "cannot be read now" in complaint
    assert str(tmp_path) not in complaint
    assert catalog.ledger.reader("survey").spent.epsilon == 1


def test_what_was_answered_is_had_while_the_table_is_out_of_reach(catalog: Catalog, root: Path) -> None:
    answer = catalog.desk("survey").ask(COUNT, "alice")
    (root / "survey.parquet").rename(root / "away.parquet")
    for desk in (catalog.desk("survey"), catalog.desk_for("survey", "bob")):
        assert desk.ask(COUNT, "bob").value == answer.value
        assert "cannot be read now" in said(desk.ask, {**COUNT, "epsilon": 2}, "bob")
    (root / "away.parquet").rename(root / "survey.parquet")
    assert isinstance(catalog.desk("survey").ask({**COUNT, "epsilon": 2}, "bob"), dp.Release)


def test_a_table_of_a_population_opens_again_after_either_budget_was_amended(root: Path) -> None:
    with make_catalog(root) as catalog:
        words: dict[str, Any] = {"unit": "person", "max_rows_per_unit": 1, "budget": dp.Budget(3), "population": "persons"}
        catalog.register("survey", "survey.parquet", owner="office", **words)
        catalog.confirm("survey", **OFFICE)
        catalog.amend("survey", budget=dp.Budget(7), **OFFICE)
    with make_catalog(root) as catalog:
        assert catalog.desk("survey").name == "survey"
        catalog.ledger.amend("population persons", budget=dp.Budget(5), **OFFICE)
    with make_catalog(root) as catalog:
        assert catalog.desk("survey").name == "survey"
        assert [str(catalog.ledger.reader(name).budget) for name in ("survey", "population persons")] == [
            "epsilon = 7",
            "epsilon = 5",
        ]


def test_every_change_is_an_entry_with_who_and_why(catalog: Catalog) -> None:
    catalog.amend("survey", budget=dp.Budget(7), largest_epsilon=2, actor="office", why="the board agreed")
    catalog.grant("survey", group="team", budget=dp.Budget(2), actor="office", why="a course")
    catalog.grant("survey", analyst="carol", group="team", actor="office", why="a student")
    catalog.revoke("survey", analyst="carol", actor="office", why="she left")
    entries = catalog.ledger.reader("survey").entries()
    changes = [(entry.kind, entry.actor, entry.content()["why"]) for entry in entries if entry.kind in (AMEND, GRANT, REVOKE)]
    assert changes[-5:] == [
        (AMEND, "office", "the board agreed"),
        (AMEND, "office", "the board agreed"),
        (GRANT, "office", "a course"),
        (GRANT, "office", "a student"),
        (REVOKE, "office", "she left"),
    ]
    assert catalog.desk("survey").policy.largest_epsilon == 2
    assert catalog.ledger.verify().sound
    for why in ("", " ", None):
        with pytest.raises(DpstatsError, match="say why"):
            catalog.freeze("survey", actor="office", why=why)  # type: ignore[arg-type]


def test_nobody_but_the_owner_changes_anything(catalog: Catalog) -> None:
    before = len(catalog.ledger.entries())
    alice: dict[str, Any] = {"actor": "alice", "why": "I like to"}
    changes: list[Callable[[], object]] = [
        lambda: catalog.amend("survey", budget=dp.Budget(99), **alice),
        lambda: catalog.freeze("survey", **alice),
        lambda: catalog.grant("survey", analyst="alice", budget=dp.Budget(99), **alice),
        lambda: catalog.revoke("survey", analyst="bob", **alice),
    ]
    for change in changes:
        with pytest.raises(AccessError):
            change()
    assert len(catalog.ledger.entries()) == before


def test_what_is_open_stays_and_its_name_is_taken(catalog: Catalog) -> None:
    with pytest.raises(InvalidParameterError, match="freeze it instead"):
        catalog.withdraw("survey", actor="office")
    with pytest.raises(InvalidParameterError, match="already"):
        catalog.register("survey", "survey.csv", owner="eve", unit="row", budget=dp.Budget(100))
    with pytest.raises(InvalidParameterError, match="open already"):
        catalog.confirm("survey", **OFFICE)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"roofs": []}, "did you mean 'roots'"),
        ({"roots": "tables"}, "roots must be a list"),
        ({"processes": 0}, "processes must be"),
        ({"second_person": 1}, "second_person"),
    ],
)
def test_settings_are_checked(root: Path, settings: dict[str, object], says: str) -> None:
    assert says in said(make_catalog, root, **settings)


def test_a_catalog_in_postgres_is_signed_and_starts_only_with_all_that_its_witness_has_seen(
    root: Path, postgres_schema_url: str
) -> None:
    pytest.importorskip("cryptography")
    file = root.parent / "catalog.toml"
    file.write_text(
        f'ledger = "{postgres_schema_url}"\nwitness = "curator.witness"\nkey = "curator.key"\n'
        'registrations = "catalog.sqlite"\nroots = ["tables"]\n'
    )
    assert "make it with `dpstats ledger key" in said(dp.open_catalog, file)
    with dp.open_ledger(postgres_schema_url, key=root.parent / "curator.key") as ledger:
        public, _ = ledger.make_key()
    with dp.open_catalog(file) as catalog:
        catalog.register("survey", "survey.parquet", owner="office", unit="person", max_rows_per_unit=1, budget=dp.Budget(1))
        catalog.confirm("survey", **OFFICE)
        catalog.grant("survey", analyst="alice", **OFFICE)
        receipt = catalog.desk("survey").ask(COUNT, actor="alice").receipt
        assert receipt["signed_by"] == public
    cut_in_postgres(postgres_schema_url, after=receipt["sequence"] - 1)
    assert "its end was cut off" in said(dp.open_catalog, file)


def test_settings_are_read_from_a_file_beside_which_the_rest_lies(root: Path) -> None:
    from dpstats.curator.catalog.settings import CatalogSettings

    file = root.parent / "catalog.toml"
    file.write_text('ledger = "curator.ledger"\nregistrations = "catalog.sqlite"\nroots = ["tables"]\n')
    with Catalog(CatalogSettings.read(file)) as catalog:
        assert catalog.register("survey", "survey.csv", owner="office", unit="row", budget=dp.Budget(1))["income"] == "text"
    assert (root.parent / "curator.ledger").exists()
    assert (root.parent / "catalog.sqlite").stat().st_mode & 0o077 == 0
    file.write_text("ledger = ")
    assert "is not TOML" in said(CatalogSettings.read, file)
    assert "needs ledger" in said(CatalogSettings.read, {})


def test_a_number_of_rows_is_named_or_found_when_a_draft_is_confirmed(root: Path) -> None:
    many = pl.DataFrame({"person": [number // 3 for number in range(9_000)], "cost": [1.0] * 9_000})
    many.write_parquet(root / "visits.parquet")
    draft: dict[str, Any] = {"owner": "office", "unit": "person", "budget": dp.Budget(3)}
    with make_catalog(root) as catalog:
        with pytest.raises(dp.MissingParameterError, match="how many rows of each person are used"):
            catalog.register("visits", "visits.parquet", **draft)
        with pytest.raises(InvalidParameterError, match="more than the whole budget"):
            catalog.register("visits", "visits.parquet", max_rows_per_unit="auto", rows_per_unit_epsilon=4, **draft)
        catalog.register("visits", "visits.parquet", max_rows_per_unit="auto", rows_per_unit_epsilon="0.4", **draft)
        catalog.revise("visits", actor="office", missing_unit="each")
        waiting = protection_of_words(catalog.registration("visits", actor="office").protection)
        assert "at most 64 rows of each person, to be found privately for epsilon = 0.4" in waiting.describe()
        assert catalog.ledger.entries() == []
        catalog.confirm("visits", **OFFICE)
        catalog.grant("visits", analyst="alice", **OFFICE)
        opened = protection_of_words(catalog.registration("visits", actor="office").protection)
        assert "at most 4 rows of each person, about" in opened.describe()
        assert opened == catalog.desk("visits").protection
        assert catalog.ledger.reader("visits").spent == dp.PrivacyCost("0.4", unit="person")
        assert "at most 4 rows of each person, about" in str(catalog.desk("visits").ask(COUNT, "alice"))
    with make_catalog(root) as catalog:
        assert catalog.desk("visits").protection == opened
        assert catalog.ledger.reader("visits").spent == dp.PrivacyCost("1.4", unit="person")


def test_a_draft_does_not_take_another_number_of_rows_than_the_ledger_has(root: Path) -> None:
    with make_catalog(root) as catalog:
        dp.protect(root / "survey.parquet", unit="person", max_rows_per_unit=1, budget=dp.Budget(1), ledger=catalog.ledger)
        catalog.register("survey", "survey.parquet", owner="office", unit="person", max_rows_per_unit=2, budget=dp.Budget(1))
        with pytest.raises(dp.LedgerError, match="the ledger has max_rows_per_unit 1, this session asks for 2"):
            catalog.confirm("survey", **OFFICE)
