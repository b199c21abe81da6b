"""How many rows of each unit are used: never assumed, kept by the ledger, found for a price, and said by every answer."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import dpstats as dp
from dpstats.curator.ledger.entries import DEBIT
from dpstats.curator.ledger.ledger import Terms, open_ledger
from dpstats.curator.rows_per_unit import rows_used_on
from dpstats.curator.session import Session
from dpstats.engines.stores.memory import MemoryStore
from dpstats.foundations.registry import find_statistic, statistic_names
from tests.questions import ROWS, UnreadableStore, columns_for, required_of
from tests.questions import table as columns_of_every_type

AUTO: dict[str, Any] = {"max_rows_per_unit": "auto", "rows_per_unit_epsilon": 0.5}
PERSONS = 3_000


def visits(sizes: Any = None) -> dict[str, Any]:
    """Rows of persons, by default 1 to 4 of each."""
    chance = np.random.default_rng(4)
    many = chance.integers(1, 5, PERSONS) if sizes is None else sizes
    person = np.repeat(np.arange(many.size), many)
    return {"person": person, "amount": chance.normal(100, 10, person.size), "ward": np.where(person % 2, "east", "west")}


def protected(table: Any, **changes: Any) -> Session:
    settings: dict[str, Any] = {"unit": "person", "budget": dp.Budget(epsilon=1000), "ledger": ":memory:", **changes}
    return dp.protect(table, **settings)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    pl.DataFrame(visits()).write_parquet(tmp_path / "visits.parquet")
    return tmp_path / "visits.parquet"


def is_told(text: str) -> bool:
    return "(at most 2 rows of each person" in text


# Named


def test_where_the_unit_is_a_column_the_number_of_rows_has_no_default(file: Path, tmp_path: Path) -> None:
    for ledger in (":memory:", tmp_path / "a.ledger"):
        with pytest.raises(dp.MissingParameterError, match=r"rows of each person.*1 if every person has one row.*'auto'"):
            protected(file, ledger=ledger)
    assert not (tmp_path / "a.ledger").exists()
    assert protected(file, unit="row").count(epsilon=1)


def test_a_ledger_that_knows_the_table_knows_the_number(file: Path, tmp_path: Path) -> None:
    first = protected(file, ledger=tmp_path / "a.ledger", max_rows_per_unit=2)
    released = first.sum("amount", epsilon=1)
    again = protected(file, ledger=tmp_path / "a.ledger")
    assert "at most 2 rows of each person" in str(again.describe())
    assert again.sum("amount", epsilon=1).value == released.value
    assert is_told(str(again.count(epsilon=1)))
    with pytest.raises(dp.LedgerError, match="the ledger has max_rows_per_unit 2, this session asks for 3"):
        protected(file, ledger=tmp_path / "a.ledger", max_rows_per_unit=3)
    with pytest.raises(dp.LedgerError, match="the ledger has max_rows_per_unit 2"):
        protected(file, ledger=tmp_path / "a.ledger", **AUTO)
    with pytest.raises(dp.LedgerError, match="the ledger has unit person"):
        protected(file, ledger=tmp_path / "a.ledger", unit="ward")
    with pytest.raises(dp.MissingParameterError, match="max_rows_per_unit"):
        protected(visits(), name="another", ledger=tmp_path / "a.ledger")


def test_an_account_that_was_opened_with_the_former_default_keeps_it(file: Path, tmp_path: Path) -> None:
    with open_ledger(tmp_path / "a.ledger") as ledger:
        ledger.account("visits", Terms(dp.Budget(1000), unit="person", facts={"missing_unit": "drop"}))
    survey = protected(file, ledger=tmp_path / "a.ledger")
    assert "at most 1 row of each person" in str(survey.describe())
    assert str(survey.count(epsilon=1)).startswith("count (at most 1 row of each person) = ")


def test_a_table_in_memory_is_known_for_as_long_as_the_process_lives(file: Path) -> None:
    protected(file, max_rows_per_unit=2)
    again = protected(file)
    assert is_told(str(again.count(epsilon=1)))
    assert again.rows_per_unit is None


# Every answer


def narrowed(survey: Session, name: str) -> Any:
    """An answer of a statistic about the first columns that it takes."""
    statistic = find_statistic(name)
    words: dict[str, Any] = {**required_of(statistic), "epsilon": 20, "delta": 1e-7}
    listed: dict[str, Any] = {"levels": {"region": ["north", "south"]}}
    tried: list[tuple[list[Any], dict[str, Any]]] = [
        (columns_for(statistic), {}),
        (["income"], {}),
        (["region", "employed"], listed),
        (["region", "employed"], {**listed, "size": 4}),
    ]
    for columns, more in tried:
        with suppress(dp.InvalidParameterError, dp.MissingParameterError, dp.DataTypeError):
            return getattr(survey, name)(*columns, **words, **more)
    raise AssertionError(name)


class Unreadable(UnreadableStore):
    """Rows that cannot be read, with a column of persons."""

    def __init__(self) -> None:
        self.columns = MemoryStore({"person": np.arange(ROWS), **columns_of_every_type()}).columns


def unreadable() -> Session:
    budget = dp.Budget(epsilon=10**9, delta=0.4)
    return protected(Unreadable(), name="people", budget=budget, max_rows_per_unit=2, may_fail=True)


@pytest.mark.parametrize("name", statistic_names())
def test_every_statistic_says_of_which_rows_its_answer_is(name: str) -> None:
    survey = unreadable()
    for asker in (survey, survey.where("age > 30"), survey.group_by("region", keys=["north", "south"])):
        with suppress(TypeError, dp.InvalidParameterError):  # what cannot be asked in groups
            refused = narrowed(asker, name)
            assert is_told(str(refused))
            assert is_told(refused.card().title)
    assert all(is_told(entry.content()["question"]) for entry in survey.ledger.entries(kinds=[DEBIT]))


QUESTIONS: dict[str, Callable[[Session], Any]] = {
    "sum": lambda table: table.sum("amount", epsilon=5),
    "count": lambda table: table.where("amount > 90").count(epsilon=5),
    "mean": lambda table: table.mean("amount", epsilon=5),
    "median": lambda table: table.median("amount", epsilon=5, interval=None),
    "formula": lambda table: table.regression("amount ~ person", epsilon=50),
    "document": lambda table: table.ask({"version": 1, "statistic": "count", "epsilon": 1}),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_release_says_it_in_its_line_its_card_and_as_plain_values(question: str) -> None:
    release = QUESTIONS[question](protected(visits(), max_rows_per_unit=2))
    assert is_told(str(release).split(" = ")[0])
    assert is_told(release.card().title)
    assert dict(release.card().lines)["rows used"] == "at most 2 rows of each person"
    assert is_told(str(release.to_dict()["question"]))
    assert release.interval is None or release.interval.covers.endswith("at most 2 rows of each person")


def test_groups_say_it_of_all_and_of_each() -> None:
    grouped = protected(visits(), max_rows_per_unit=2).group_by("ward", keys=["east", "west"]).sum("amount", epsilon=5)
    assert is_told(str(grouped))
    assert all(is_told(str(reply)) for reply in grouped.values())


def test_plans_say_it() -> None:
    survey = protected(visits(), max_rows_per_unit=2)
    assert is_told(str(survey.plan("mean", "amount", epsilon=1, n=[1000], shape="normal", repeats=10)))


def test_rows_that_are_units_are_not_spoken_of() -> None:
    release = protected(visits(), unit="row").sum("amount", epsilon=1)
    assert release.question == "sum(amount)"
    assert "rows used" not in dict(release.notes)


def test_an_archived_answer_of_an_earlier_release_says_it_too(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:  # as they were written before lines said so
        patch.setattr("dpstats.curator.protection.Protection.in_line", lambda *_, **__: "")
        patch.setattr("dpstats.curator.protection.Protection.rows_note", lambda *_: "at most 2 of each person")
        survey = protected(file, ledger=tmp_path / "a.ledger", max_rows_per_unit=2)
        before = survey.sum("amount", epsilon=1), survey.group_by("ward", keys=["east", "west"]).count(epsilon=1)
    assert not is_told(str(before[0]))
    survey = protected(file, ledger=tmp_path / "a.ledger")
    now = survey.sum("amount", epsilon=1), survey.group_by("ward", keys=["east", "west"]).count(epsilon=1)
    assert now[0].value == before[0].value
    assert is_told(str(now[0]).split(" = ")[0])
    assert is_told(str(now[1]))
    assert all(is_told(str(reply)) for reply in now[1].values())


# Found


def test_the_number_is_found_once_and_paid_for_once(file: Path, tmp_path: Path) -> None:
    survey = protected(file, ledger=tmp_path / "a.ledger", **AUTO)
    assert "at most 4 rows of each person" in str(survey.describe())
    assert "found privately for epsilon = 0.5" in str(survey.describe())
    assert survey.ledger.spent == dp.PrivacyCost(0.5, unit="person")
    for again in (protected(file, ledger=tmp_path / "a.ledger"), protected(file, ledger=tmp_path / "a.ledger", **AUTO)):
        assert again.describe().lines[0] == survey.describe().lines[0]
        assert again.ledger.spent == dp.PrivacyCost(0.5, unit="person")
        assert again.rows_per_unit is not None
        assert again.rows_per_unit.value.rows == 4
        assert str(again.rows_per_unit).startswith("rows of each person = at most 4 rows (")
    with open_ledger(tmp_path / "a.ledger") as ledger:
        assert ledger.verify().sound
        terms = ledger.reader("visits").terms
    assert terms.max_rows_per_unit == 64
    assert dict(terms.facts) == {"max_rows_per_unit": "auto", "rows_per_unit_epsilon": "1/2", "missing_unit": "drop"}
    with pytest.raises(dp.LedgerError, match="'rows_per_unit_epsilon' \"1/2\""):
        protected(file, ledger=tmp_path / "a.ledger", max_rows_per_unit="auto", rows_per_unit_epsilon=1)


def test_the_found_number_bounds_rows_and_prices_them() -> None:
    table = visits(np.full(PERSONS, 3))
    found, named = protected(table, **AUTO), protected(table, max_rows_per_unit=4)
    assert float(found.count(epsilon=50)) == pytest.approx(3 * PERSONS, abs=3)
    one, other = (session.mean("amount", epsilon=5) for session in (found, named))
    assert dict(one.notes)["price of a row"] == dict(other.notes)["price of a row"]
    assert rows_used_on(found.ledger) == rows_used_on(named.ledger) == 4
    assert "such as" not in str(protected(table, **AUTO).remaining)


def test_totals_say_about_which_share_of_the_rows_is_used() -> None:
    survey = protected(visits(), max_rows_per_unit="auto", rows_per_unit_epsilon=2)
    words = "(at most 4 rows of each person, about "
    assert words in str(survey.sum("amount", epsilon=1)).split(" = ")[0]
    assert words in str(survey.count(epsilon=1)).split(" = ")[0]
    assert "(at most 4 rows of each person)" in str(survey.mean("amount", epsilon=1))
    assert "% of the table's rows with an id; found privately" in dict(survey.mean("amount", epsilon=1).notes)["rows used"]
    assert "% of the table's rows with an id" in str(survey.describe())
    assert "about" not in str(protected(visits(), max_rows_per_unit=4).sum("amount", epsilon=1))


TOTALS_OF_A_PART: dict[str, Callable[[Session], Any]] = {
    "filtered count": lambda table: table.where("amount > 90").count(epsilon=1),
    "filtered sum": lambda table: table.where("amount > 90").sum("amount", epsilon=1),
    "filtered and derived": lambda table: table.where("amount > 90").with_columns(twice="amount * 2").sum("twice", epsilon=1),
    "public groups": lambda table: table.group_by("ward", keys=["east", "west"]).count(epsilon=1),
    "groups found privately": lambda table: table.group_by("ward").sum("amount", epsilon=5, delta=1e-6),
    "filtered groups": lambda table: table.where("amount > 90").group_by("ward", keys=["east", "west"]).count(epsilon=1),
    "filtered document": lambda table: table.ask({"version": 1, "statistic": "count", "where": ["amount > 90"], "epsilon": 1}),
    "grouped document": lambda table: table.ask(
        {"version": 1, "statistic": "count", "group_by": {"columns": ["ward"], "keys": ["east", "west"]}, "epsilon": 1}
    ),
    "plan of a filtered count": lambda table: table.where("amount > 90").plan(
        "count", epsilon=1, n=[1000], shape="normal", repeats=10
    ),
}


@pytest.mark.parametrize("question", TOTALS_OF_A_PART)
def test_totals_of_a_part_of_the_table_do_not_state_the_share_of_all_of_it(question: str) -> None:
    survey = protected(visits(), budget=dp.Budget(1000, 1e-4), max_rows_per_unit="auto", rows_per_unit_epsilon=2)
    asked = TOTALS_OF_A_PART[question](survey)
    answers = [asked, *(asked.values() if hasattr(asked, "values") else [])]
    for answer in answers:
        assert "(at most 4 rows of each person)" in str(answer)
        assert "%" not in getattr(answer, "question", str(answer).partition("\n")[0]).replace("95%", "")
        for heading, note in getattr(answer, "notes", ()):
            if heading == "rows used":
                assert "% of the table's rows with an id" in note


@pytest.mark.parametrize(("missing", "of"), [("drop", "of the table's rows with an id"), ("each", "of the table's rows")])
def test_the_share_counts_rows_without_an_id_only_where_they_are_used(missing: str, of: str) -> None:
    person = pl.Series([*visits(np.full(2000, 1))["person"], *[None] * 5000])
    survey = protected({"person": person}, missing_unit=missing, **AUTO)
    assert str(survey.count(epsilon=1)).split(" = ")[0].endswith(f"{of})")


def test_more_rows_than_the_cap_are_spoken_of_and_not_used() -> None:
    survey = protected(visits(np.full(PERSONS, 9)), most_rows_per_unit=5, **AUTO)
    assert "at most 5 rows of each person, found privately for epsilon = 0.5; some persons have more than 5" in str(
        survey.describe()
    )
    assert float(survey.count(epsilon=50)) == pytest.approx(5 * PERSONS, abs=5)


@pytest.mark.parametrize("neighbors", ["add_remove", "change_one"])
@pytest.mark.parametrize(("missing", "rows"), [("drop", 4), ("each", 1), ("together", 4)])
def test_rows_without_an_id_count_as_the_owner_says(missing: str, rows: int, neighbors: str) -> None:
    person = pl.Series([*visits(np.full(200, 3))["person"], *[None] * 5000])
    survey = protected({"person": person}, missing_unit=missing, neighbors=neighbors, **AUTO)
    assert f"at most {rows} row" in str(survey.describe())


@pytest.mark.parametrize(
    ("words", "error", "said"),
    [
        ({"max_rows_per_unit": "auto"}, dp.MissingParameterError, "needs rows_per_unit_epsilon"),
        ({"max_rows_per_unit": 3, "rows_per_unit_epsilon": 1}, dp.InvalidParameterError, "belong to max_rows_per_unit='auto'"),
        ({"most_rows_per_unit": 3}, dp.InvalidParameterError, "belong to max_rows_per_unit='auto'"),
        ({**AUTO, "most_rows_per_unit": 0}, dp.InvalidParameterError, "most_rows_per_unit must be a whole number"),
        ({**AUTO, "unit": "row"}, dp.InvalidParameterError, "a unit has one row"),
        ({"max_rows_per_unit": "many"}, dp.InvalidParameterError, "whole number from 1 to 1,000,000, such as 3, or 'auto'"),
        ({"max_rows_per_unit": True}, dp.InvalidParameterError, "whole number"),
        ({**AUTO, "rows_per_unit_epsilon": 0}, dp.InvalidParameterError, "epsilon must be a positive number"),
        ({**AUTO, "rows_per_unit_epsilon": 1001}, dp.InvalidParameterError, "more than the whole budget"),
    ],
)
def test_what_cannot_be_agreed_on_is_refused_in_plain_words(words: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        protected(visits(), **words)


def test_a_population_without_enough_left_refuses_to_find_it(file: Path, tmp_path: Path) -> None:
    other = protected(
        file,
        ledger=tmp_path / "a.ledger",
        name="first",
        unit="person",
        max_rows_per_unit=1,
        population="all",
        budget=dp.Budget(1),
        edition="1",
    )
    other.count(epsilon="0.9")
    with pytest.raises(dp.BudgetError, match="how many rows of each person are used has to be found first"):
        protected(visits(), ledger=tmp_path / "a.ledger", name="second", population="all", budget=dp.Budget(1), **AUTO)


def test_a_table_that_cannot_be_read_is_one_charged_refusal() -> None:
    with pytest.raises(dp.NoReplyError, match="rows of each person got no reply"):
        protected(Unreadable(), name="gone", may_fail=True, **AUTO)


def test_where_no_octave_is_seen_one_row_is_used() -> None:
    survey = protected(visits(np.full(3, 2)), max_rows_per_unit="auto", rows_per_unit_epsilon=0.01)
    assert "at most 1 row of each person" in str(survey.describe())
