"""A session: what it asks, what it costs, what it reads and when."""

from __future__ import annotations

import contextlib
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpstats as dp
from dpstats.curator.ledger.accounts import Account
from dpstats.curator.session import Session
from dpstats.engines.stores.memory import MemoryStore
from dpstats.engines.stores.store import Batch, LocalStore
from dpstats.foundations.registry import Question, find_statistic, statistic_names

ROWS = 4_000
HUGE = 10_000  # an epsilon at which noise vanishes


class WatchedStore(LocalStore):
    """A store in memory that remembers when it was read, and can be told to fail."""

    in_memory = True

    def __init__(self, columns: dict[str, Any]) -> None:
        self._store = MemoryStore(columns)
        self.columns = self._store.columns
        self.runs = 0
        self.failure: BaseException | None = None

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        self.runs += 1
        if self.failure is not None:
            raise self.failure
        return self._store.batches(columns)


def table() -> dict[str, Any]:
    generator = np.random.default_rng(5)
    region = np.array(["north", "south", "west"])[generator.integers(0, 3, ROWS)]
    return {
        "person": np.arange(ROWS) // 2,
        "age": generator.integers(18, 90, ROWS),
        "income": generator.lognormal(10, 0.7, ROWS),
        "region": region,
        "employed": generator.random(ROWS) < 0.6,
        "notes": ["a", 1, None, "7"] * (ROWS // 4),
    }


def session(columns: Any = None, **changes: Any) -> Session:
    settings: dict[str, Any] = {
        "unit": "row",
        "budget": dp.Budget(epsilon=10**6, delta=0.01),
        "ledger": ":memory:",
        "allow_seeded": True,
        **changes,
    }
    return dp.protect(table() if columns is None else columns, **settings)


def asked_with(monkeypatch: pytest.MonkeyPatch) -> list[Question]:
    """The questions that statistics get to see from now on."""
    seen: list[Question] = []
    answer = Question.run

    def watched(self: Question, *arguments: Any) -> Any:
        seen.append(self)
        return answer(self, *arguments)

    monkeypatch.setattr(Question, "run", watched)
    return seen


def test_every_statistic_is_a_method() -> None:
    survey = session()
    for name in statistic_names():
        function = getattr(survey, name)
        assert name in dir(survey)
        assert find_statistic(name).summary.rstrip(".") in function.__doc__


def test_answers_are_about_the_named_column() -> None:
    columns = table()
    survey = session(columns)
    assert survey.count(epsilon=HUGE).value == ROWS
    assert survey.count("income", epsilon=HUGE).value == ROWS
    assert survey.median("age", epsilon=HUGE).value == pytest.approx(np.median(columns["age"]), abs=1)
    assert survey.quantile("income", 0.9, epsilon=HUGE).value == pytest.approx(np.quantile(columns["income"], 0.9), rel=0.01)
    assert survey.mode("region", epsilon=50, delta=1e-6).value in ("north", "south", "west")


def test_what_is_asked_is_debited() -> None:
    survey = session(budget=dp.Budget(epsilon=1))
    assert str(survey.remaining) == "epsilon = 1, all of it"
    release = survey.median("income", epsilon=0.1)
    assert release.cost == dp.PrivacyCost("0.1")
    assert survey.ledger.spent == dp.PrivacyCost("0.1")
    assert survey.remaining.epsilon == Fraction(9, 10)
    assert str(survey.remaining) == "epsilon = 0.9, about 9 more questions such as median(income) at epsilon = 0.1"
    assert survey.remaining.more("median", epsilon="0.3") == 3


def test_a_spent_budget_refuses_and_nothing_is_read() -> None:
    store = WatchedStore(table())
    survey = session(store, budget=dp.Budget(epsilon="0.5"))
    survey.median("income", epsilon=0.5)
    before = store.runs
    with pytest.raises(dp.BudgetError, match=r"costs epsilon = 0\.1.*epsilon = 0 left.*Nothing was spent"):
        survey.median("age", epsilon=0.1)
    assert store.runs == before
    assert survey.ledger.spent == dp.PrivacyCost("0.5")


def test_nothing_is_read_before_it_is_paid_for() -> None:
    store = WatchedStore(table())
    survey = session(store, unit="person", max_rows_per_unit=2)
    narrowed = survey.where("age >= 30").select("income", rate="income / 12").group_by("rate", keys=[1.0])
    survey.describe()
    survey.plan("median", "income", epsilon=1, n=100, repeats=3)
    repr(survey), str(survey.remaining), dir(narrowed)
    assert store.runs == 0


def test_the_debit_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    store = WatchedStore(table())
    survey = session(store)
    spent_at_run: list[Any] = []
    batches = store.batches

    def watched(columns: Sequence[str]) -> Iterator[Batch]:
        spent_at_run.append(survey.ledger.spent.epsilon)
        return batches(columns)

    monkeypatch.setattr(store, "batches", watched)
    survey.median("income", epsilon=1)
    survey.group_by("region", keys=["north"]).median("income", epsilon=2)
    assert spent_at_run
    assert min(spent_at_run) == 1


@pytest.mark.parametrize(
    "failure",
    [RuntimeError("secret 42"), MemoryError("secret 42"), BaseException("secret 42"), dp.DataTypeError("secret 42")],
)
def test_a_failing_store_is_a_charged_no_reply_without_its_words(failure: BaseException) -> None:
    store = WatchedStore(table())
    store.failure = failure
    survey = session(store)
    plain = survey.median("income", epsilon=1)
    grouped = survey.group_by("region", keys=["north"]).median("income", epsilon=1)
    chosen = survey.group_by("region").median("income", epsilon=1, delta=1e-6)
    for reply in (plain, grouped, chosen):
        assert isinstance(reply, dp.NoReply)
        assert "secret" not in f"{reply} {reply.card()} {reply.to_json()}"
    assert len({(reply.reason, reply.advice) for reply in (plain, grouped, chosen)}) == 1
    assert survey.ledger.spent.epsilon == 3


def test_an_identical_question_is_free_and_gets_the_same_answer() -> None:
    store = WatchedStore(table())
    survey = session(store)
    first = survey.where("age >= 30").quantile("income", [0.1, 0.9], epsilon=1)
    runs = store.runs
    again = survey.where("age>=30").quantile("income", q=(0.1, 0.9), epsilon="1")
    assert again.value == first.value
    assert dict(again.notes)["archive"].endswith("nothing was spent")
    assert store.runs == runs
    assert survey.ledger.spent.epsilon == 1


@pytest.mark.parametrize(
    "other",
    [
        lambda survey: survey.median("income", epsilon="0.9"),
        lambda survey: survey.median("age", epsilon=1),
        lambda survey: survey.where("age > 30").median("income", epsilon=1),
        lambda survey: survey.median("income", epsilon=1, delta=1e-6, method="ptr"),
        lambda survey: survey.group_by("region", keys=["north"]).median("income", epsilon=1),
        lambda survey: survey.quantile("income", [0.5], epsilon=1),
    ],
)
def test_a_different_question_is_charged(other: Any) -> None:
    survey = session()
    survey.median("income", epsilon=1)
    other(survey)
    assert survey.ledger.spent.epsilon > 1


def test_derived_columns_of_one_name_and_other_meaning_are_different_questions() -> None:
    survey = session()
    survey.select(x="income * 2").median("x", epsilon=1)
    survey.select(x="income * 3").median("x", epsilon=1)
    assert survey.ledger.spent.epsilon == 2


def test_all_kinds_of_answers_come_back_from_the_archive_as_they_were() -> None:
    survey = session()
    pairs = survey.group_by("region", "employed", keys={"region": ["north"], "employed": [True, False]})
    questions: list[Callable[[], Any]] = [
        lambda: survey.count(epsilon=1),
        lambda: survey.cdf("income", epsilon=1),
        lambda: survey.mode("region", epsilon=50, delta=1e-6),
        lambda: survey.mode("income", epsilon=1, delta=1e-6),
        lambda: pairs.iqr("income", epsilon=1),
        lambda: survey.group_by("employed").cdf("income", epsilon=1),
    ]
    for ask in questions:
        first, again = ask(), ask()
        assert type(first) is type(again)
        if isinstance(first, dp.NoReply):
            assert again.reason == first.reason
        elif isinstance(first, dp.Release):
            assert again.value == first.value
            assert again.interval == first.interval
        else:
            assert {key: reply.value for key, reply in again.items()} == {key: reply.value for key, reply in first.items()}


def test_seeded_answers_are_charged_and_never_archived() -> None:
    survey = session()
    release = survey.median("income", epsilon=1, rng=dp.testing.seeded(1))
    assert not release.private
    assert survey.median("income", epsilon=1).private
    assert survey.ledger.spent.epsilon == 2


def test_a_filter_keeps_the_rows_for_which_it_is_true() -> None:
    columns = table()
    survey = session(columns)
    kept = (columns["age"] >= 30) & (columns["region"] != "north")
    assert survey.where("age >= 30").where("region != 'north'").count(epsilon=HUGE).value == kept.sum()
    assert survey.where("employed").count(epsilon=HUGE).value == columns["employed"].sum()


def test_derived_columns_can_be_asked_about_and_named_again() -> None:
    columns = table()
    survey = session(columns).with_columns(monthly="income / 12").with_columns(rich="monthly > 2000")
    assert survey.median("monthly", epsilon=HUGE).value == pytest.approx(np.median(columns["income"] / 12), rel=0.01)
    assert survey.where("rich").count(epsilon=HUGE).value == (columns["income"] / 12 > 2000).sum()


def test_select_hides_the_other_columns() -> None:
    survey = session().select("income", older="age + 1")
    assert survey.columns == {"income": "number", "older": "number"}
    with pytest.raises(dp.UnknownNameError, match="there is no column age"):
        survey.median("age", epsilon=1)


def test_a_unit_pays_for_all_of_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    survey = session(unit="person", max_rows_per_unit=4)
    seen = asked_with(monkeypatch)
    release = survey.median("income", epsilon=1)
    assert seen[0].cost == dp.PrivacyCost(Fraction(9, 10) / 4)  # the rest is for a step by person
    assert release.cost == dp.PrivacyCost(1, unit="person")
    assert "epsilon = 0.225 for one row" in dict(release.notes)["price of a row"]
    survey.median("income", epsilon=1, delta=1e-6, method="ptr")
    growth = sum(np.exp(0.25 * step) for step in range(4))
    assert float(seen[1].delta) == pytest.approx(1e-6 / growth)


def test_rows_beyond_the_bound_do_not_count() -> None:
    columns = table()
    assert session(columns, unit="person", max_rows_per_unit=1).count(epsilon=HUGE).value == ROWS // 2
    assert session(columns, unit="person", max_rows_per_unit=2).count(epsilon=HUGE).value == ROWS


@pytest.mark.parametrize(("policy", "rows"), [("drop", 3), ("each", 7), ("together", 4)])
def test_rows_without_a_unit_follow_the_declared_policy(policy: str, rows: int) -> None:
    columns = {"person": [1, 1, 2, 3, None, None, float("nan"), None], "x": list(range(8))}
    survey = session(columns, unit="person", max_rows_per_unit=1, missing_unit=policy, types={"person": "number"})
    assert survey.count(epsilon=HUGE).value == rows


def test_change_one_is_asked_of_the_whole_table_and_two_steps_of_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = asked_with(monkeypatch)
    survey = session(neighbors="change_one")
    survey.median("income", epsilon=1)
    survey.where("age > 30").median("income", epsilon=1)
    survey.group_by("employed").median("income", epsilon=1)
    assert seen[0].cost == dp.PrivacyCost(1, neighbors="change_one")
    assert {question.cost for question in seen[1:]} == {dp.PrivacyCost(Fraction(1, 2))}
    assert survey.ledger.spent == dp.PrivacyCost(3, neighbors="change_one")


def test_groups_cost_what_one_costs() -> None:
    columns = table()
    survey = session(columns)
    medians = survey.group_by("region", keys=["north", "south", "nowhere"]).median("income", epsilon=HUGE)
    assert survey.ledger.spent.epsilon == HUGE
    assert list(medians) == ["north", "nowhere", "south"]
    for region in ("north", "south"):
        assert medians[region].value == pytest.approx(np.median(columns["income"][columns["region"] == region]), rel=0.01)


def test_keys_chosen_privately_need_delta_and_come_in_order() -> None:
    columns = {**table(), "rare": ["common"] * (ROWS - 1) + ["rare"]}
    survey = session(columns)
    with pytest.raises(dp.MissingParameterError, match="chosen privately, which needs delta"):
        survey.group_by("region").median("income", epsilon=1)
    assert survey.ledger.spent.epsilon == 0
    counts = survey.group_by("region").count(epsilon=1, delta=1e-6)
    assert list(counts) == ["north", "south", "west"]
    assert list(survey.group_by("rare").median("income", epsilon=1, delta=1e-6)) == ["common"]
    assert survey.ledger.spent.delta == Fraction(2, 10**6)


def test_the_choice_of_keys_and_the_answers_share_the_price(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = asked_with(monkeypatch)
    survey = session(unit="person", max_rows_per_unit=2)
    survey.group_by("region").median("income", epsilon=4, delta=1e-6)
    assert {question.cost for question in seen} == {dp.PrivacyCost(Fraction(3, 2))}
    seen.clear()
    survey.group_by("region").median("income", epsilon=4, delta=1e-6, method="ptr")
    growth = 1 + np.exp(2)
    for question in seen:
        assert question.epsilon == Fraction(3, 2)
        assert float(question.delta) == pytest.approx(1e-6 / growth / 2)


def test_declared_keys_and_booleans_need_no_delta() -> None:
    survey = session(keys={"region": ["south", "north", "west"]})
    assert list(survey.group_by("region").count(epsilon=1)) == ["north", "south", "west"]
    assert list(survey.group_by("employed").count(epsilon=1)) == [False, True]
    assert len(survey.group_by("region", "employed").count(epsilon=1)) == 6
    assert "one of south, north, west" in str(survey.describe())


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda survey: survey.median("incom", epsilon=1), dp.UnknownNameError, "Did you mean income"),
        (lambda survey: survey.median("region", epsilon=1), dp.DataTypeError, "region is of type text"),
        (lambda survey: survey.median("income"), dp.MissingParameterError, "needs epsilon"),
        (lambda survey: survey.median(epsilon=1), dp.MissingParameterError, "needs a column"),
        (lambda survey: survey.median(3, epsilon=1), dp.InvalidParameterError, "name of a column"),
        (lambda survey: survey.median("income", epsilon=1, unit="person"), dp.InvalidParameterError, "fixed when the table"),
        (lambda survey: survey.medain("income", epsilon=1), AttributeError, "did you mean median"),
        (lambda survey: survey.where("age >"), dp.InvalidParameterError, "not clear"),
        (lambda survey: survey.where("agee > 3"), dp.UnknownNameError, "age"),
        (lambda survey: survey.where("age + 1"), dp.DataTypeError, "takes a condition"),
        (lambda survey: survey.group_by(), dp.MissingParameterError, "group_by needs a column"),
        (lambda survey: survey.group_by("age", keys="abc"), dp.InvalidParameterError, "list of values"),
        (lambda survey: survey.group_by("age", keys=["abc"]), dp.DataTypeError, "of its type"),
        (lambda survey: survey.group_by("region", "age", keys=["north"]), dp.InvalidParameterError, "2 values"),
        (lambda survey: survey.group_by("region", "age", keys=[]), dp.InvalidParameterError, "at least one group"),
        (lambda survey: survey.group_by("region", keys=[]), dp.InvalidParameterError, "at least one value"),
        (lambda survey: survey.select(), dp.MissingParameterError, "select needs columns"),
        (lambda survey: survey.select(income="age"), dp.InvalidParameterError, "already"),
    ],
)
def test_mistakes_are_told_before_anything_is_spent(ask: Any, error: type[Exception], words: str) -> None:
    survey = session()
    with pytest.raises(error, match=words):
        ask(survey)
    assert survey.ledger.spent.epsilon == 0


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"unit": None}, dp.MissingParameterError, "needs unit"),
        ({"unit": "persn"}, dp.UnknownNameError, "Did you mean person.*unit names the column"),
        ({"budget": None}, dp.MissingParameterError, "needs budget"),
        ({"budget": 3}, dp.InvalidParameterError, "must be a dp.Budget"),
        ({"ledger": None}, dp.MissingParameterError, "needs ledger"),
        ({"max_rows_per_unit": 3}, dp.InvalidParameterError, "a unit has one row"),
        ({"unit": "person", "max_rows_per_unit": 0}, dp.InvalidParameterError, "whole number from 1"),
        ({"unit": "person", "missing_unit": "keep"}, dp.InvalidParameterError, "'drop', 'each' or 'together'"),
        ({"neighbors": "both"}, dp.InvalidParameterError, "add_remove"),
        ({"keys": {"regio": ["a"]}}, dp.UnknownNameError, "Did you mean region"),
        ({"types": {"income": "date"}}, dp.InvalidParameterError, "cannot be declared as date"),
        ({"name": "a\nb"}, dp.InvalidParameterError, "printable"),
    ],
)
def test_a_table_is_protected_on_clear_terms_only(changes: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        session(**changes)


def test_an_undeclared_column_is_read_as_the_question_asks() -> None:
    survey = session()
    assert survey.count("notes", epsilon=HUGE).value == ROWS * 3 // 4
    assert survey.median("notes", epsilon=HUGE).value == pytest.approx(4, abs=3.1)
    assert survey.where("notes == '7'").count(epsilon=HUGE).value == ROWS // 4


def test_columns_of_a_csv_file_are_texts_until_somebody_says_that_they_are_more(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("income,region\n" + "7,north\n" * 500, encoding="utf-8")
    survey = session(file)
    assert survey.columns == {"income": "text", "region": "text"}
    with pytest.raises(dp.DataTypeError, match=r"mean needs numbers, .* type text.* types=\{'income': 'number'\}"):
        survey.mean("income", epsilon=1)
    assert survey.ledger.spent.epsilon == 0
    assert survey.histogram("income", epsilon=1, delta=1e-6).value.labels == ("7",)
    copied = file.rename(tmp_path / "inferred.csv")  # a known file has no second account
    inferred = session(copied, types="infer")
    assert inferred.columns == {"income": "number", "region": "text"}
    assert inferred.median("income", epsilon=1).value == 7


def test_that_types_were_inferred_is_kept_in_the_ledger(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("income\n7\n", encoding="utf-8")
    session(file, types="infer", ledger=tmp_path / "a.ledger")
    with pytest.raises(dp.LedgerError, match="'types'"):
        session(file, ledger=tmp_path / "a.ledger", types={"income": "number"})


def test_a_reopened_session_finds_what_another_process_spent(tmp_path: Path) -> None:
    ledger, file = tmp_path / "survey.ledger", tmp_path / "survey.csv"
    file.write_text("person,income\n" + "\n".join(f"{index},{index * 10}" for index in range(5_000)), encoding="utf-8")
    code = (
        "import sys, dpstats as dp\n"
        "survey = dp.protect(sys.argv[1], unit='person', max_rows_per_unit=1, budget=dp.Budget(epsilon=2), ledger=sys.argv[2], "
        "types={'income': 'number'})\n"
        "print(survey.median('income', epsilon=0.5).value)\n"
    )
    first, again = (
        subprocess.run([sys.executable, "-c", code, str(file), str(ledger)], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    )
    survey = dp.protect(
        file, unit="person", max_rows_per_unit=1, budget=dp.Budget(epsilon=2), ledger=ledger, types={"income": "number"}
    )
    assert survey.ledger.spent.epsilon == Fraction(1, 2)
    assert first == again == f"{survey.median('income', epsilon=0.5).value}\n"
    assert survey.ledger.spent.epsilon == Fraction(1, 2)
    with pytest.raises(dp.LedgerError, match="budget epsilon = 2, this session asks for epsilon = 3"):
        dp.protect(file, unit="person", max_rows_per_unit=1, budget=dp.Budget(epsilon=3), ledger=ledger)


def test_a_new_edition_is_asked_anew(tmp_path: Path) -> None:
    columns = table()
    for edition in ("1", "2"):
        survey = session(columns, name="survey", ledger=tmp_path / "a.ledger", edition=edition)
        survey.median("income", epsilon=1)
    assert survey.ledger.spent.epsilon == 2


def test_tables_without_a_name_are_not_taken_for_each_other(tmp_path: Path) -> None:
    for shift in (0, 1):
        survey = session({**table(), "income": table()["income"] + shift}, ledger=tmp_path / "a.ledger")
        survey.median("income", epsilon=1)
    assert survey.ledger.spent.epsilon == 2


def test_a_zcdp_budget_takes_many_small_questions() -> None:
    survey = session(budget=dp.Budget(epsilon=1, delta=1e-6, accountant="zcdp"))
    for index in range(100):
        survey.where(f"age >= {index}").count(epsilon="0.01")
    assert survey.ledger.spent.epsilon < 1
    assert "rho" in str(survey.remaining)
    assert survey.remaining.more("median", epsilon="0.01") > 100


def test_an_answer_that_cannot_be_archived_is_handed_out_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    survey = session()

    def refuse(*_: object) -> None:
        raise dp.LedgerError("the disk is full.")

    monkeypatch.setattr(Account, "record", refuse)
    release = survey.median("income", epsilon=1)
    assert "will cost again" in dict(release.notes)["not archived"]
    assert "from the archive" not in str(release)
    survey.median("income", epsilon=1)
    assert survey.ledger.spent.epsilon == 2


def test_nobody_brings_noise_of_their_own() -> None:
    class Silent:
        private = True

        def octets(self, count: int) -> bytes:
            return bytes(count)

    survey = session(allow_seeded=False)
    for rng, words in ((Silent(), "must come from"), (dp.testing.seeded(1), "secret noise only")):
        with pytest.raises(dp.InvalidParameterError, match=words):
            survey.count(epsilon=1, rng=rng)
        with pytest.raises(dp.InvalidParameterError, match=words):
            survey.group_by("employed").count(epsilon=1, rng=rng)
    with pytest.raises(dp.InvalidParameterError, match="must come from"):
        session().count(epsilon=1, rng=Silent())
    assert survey.ledger.spent.epsilon == 0


def test_numbers_with_methods_of_their_own_cost_what_they_are() -> None:
    class Cheap(int):
        numerator = 0

        def __mul__(self, other: int) -> int:
            return 0

    survey = session(budget=dp.Budget(epsilon=1))
    with pytest.raises(dp.BudgetError):
        survey.count(epsilon=Cheap(1000))
    survey.count(epsilon=Cheap(1))
    assert survey.ledger.spent.epsilon == 1


def test_an_analyst_cannot_write_to_the_ledger_through_the_session() -> None:
    survey = session()
    assert not hasattr(survey.ledger, "debit")
    assert not hasattr(survey.ledger, "record")


def test_a_column_read_as_another_type_is_another_question(tmp_path: Path) -> None:
    values = {"x": ["1", "2", "x", "4"] * 100}
    counts = [
        session(values, name="t", ledger=tmp_path / "a.ledger", types={"x": kind}).count("x", epsilon=HUGE).value
        for kind in ("text", "number")
    ]
    assert counts == [400, 300]


def test_files_of_one_name_in_two_folders_are_two_tables(tmp_path: Path) -> None:
    medians = []
    for number in (1, 2):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "survey.csv").write_text("x\n" + f"{number}\n" * 500, encoding="utf-8")
        survey = session(folder / "survey.csv", ledger=tmp_path / "a.ledger", types={"x": "number"})
        medians.append(survey.median("x", epsilon=1).value)
    assert medians == [1, 2]
    assert survey.ledger.spent.epsilon == 2


def test_keys_that_are_dates_may_be_written_in_any_way() -> None:
    days = np.array(["2024-02-29", "2024-03-01"] * 500, dtype="M8[D]")
    times = days.astype("M8[us]") + np.timedelta64(1_500_000, "us")
    survey = session({"day": days, "time": times})
    keys = [date(2024, 2, 29), datetime(2024, 2, 29), "2024-02-29", "2024-02-29T00:00:00", "20240229"]
    for key in keys:
        assert survey.group_by("day", keys=[key]).count(epsilon=HUGE).values_by_key == {"2024-02-29": 500}
    for key in (datetime(2024, 2, 29, 0, 0, 1, 500_000), "2024-02-29 00:00:01.500000"):
        assert survey.group_by("time", keys=[key]).count(epsilon=HUGE).values_by_key == {"2024-02-29T00:00:01.5": 500}
    with pytest.raises(dp.DataTypeError, match="must be a date such as"):
        survey.group_by("day", keys=["yesterday"])


def test_an_epsilon_too_small_to_share_is_refused_before_it_is_spent() -> None:
    survey = session()
    with pytest.raises(dp.InvalidParameterError, match="at least 1e-9"):
        survey.group_by("region").median("income", epsilon="3e-9", delta=1e-6)
    assert survey.ledger.spent.epsilon == 0


def test_every_answer_says_whose_rows_it_used() -> None:
    survey = session(unit="person", max_rows_per_unit=2)
    count = survey.count(epsilon=1)
    assert dict(count.notes)["rows used"] == "at most 2 rows of each person"
    assert count.interval.covers.endswith("for the rows that are used: at most 2 rows of each person")
    assert (
        dict(survey.group_by("employed").median("income", epsilon=1)[True].notes)["rows used"] == "at most 2 rows of each person"
    )


def test_what_could_not_be_computed_is_not_archived() -> None:
    store = WatchedStore(table())
    survey = session(store)
    store.failure = RuntimeError("the disk was busy")
    assert isinstance(survey.median("income", epsilon=1), dp.NoReply)
    assert isinstance(survey.group_by("employed").median("income", epsilon=1), dp.NoReply)
    store.failure = None
    assert isinstance(survey.median("income", epsilon=1), dp.Release)
    assert survey.group_by("employed").median("income", epsilon=1)[True]
    assert survey.ledger.spent.epsilon == 4


def test_a_refusal_of_a_test_is_an_answer_and_is_archived() -> None:
    survey = session({"x": [1.0, 2.0, 3.0]})
    first = survey.iqr("x", epsilon=0.1, delta=1e-6, method="ptr")
    again = survey.iqr("x", epsilon=0.1, delta=1e-6, method="ptr")
    assert isinstance(first, dp.NoReply)
    assert "answered before" in again.advice
    assert survey.ledger.spent.epsilon == Fraction(1, 10)


def test_a_file_that_was_written_anew_is_asked_anew(tmp_path: Path) -> None:
    file = tmp_path / "survey.csv"
    for number in (1, 2):
        file.write_text("x\n" + f"{number}\n" * 500 * number, encoding="utf-8")
        survey = session(file, ledger=tmp_path / "a.ledger", types={"x": "number"})
        assert survey.median("x", epsilon=1).value == number
    assert survey.ledger.spent.epsilon == 2


def test_folders_and_patterns_are_named_after_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "visits"
    folder.mkdir()
    (folder / "a.csv").write_text("x\n1\n", encoding="utf-8")
    assert {session(folder / pattern).name for pattern in ("*.csv", "?.csv", "[a]*.csv")} == {"visits"}
    (folder / "b.csv").write_text("x\n1\n", encoding="utf-8")
    assert session(folder / "b.csv").name == "b"


def test_private_keys_of_booleans_are_booleans() -> None:
    survey = session({**table(), "region": ["north"] * ROWS})
    groups = survey.group_by("region", "employed").count(epsilon=1, delta=1e-6)
    assert [type(key[1]) for key in groups] == [bool, bool]


def test_columns_of_groups_may_come_in_a_list() -> None:
    survey = session(keys={"region": ["north"]})
    assert list(survey.group_by(["region", "employed"]).count(epsilon=1)) == [("north", False), ("north", True)]


def test_sessions_and_groups_show_themselves() -> None:
    survey = session()
    assert "<table>" in survey._repr_html_()
    assert repr(survey.group_by("region")) == "Groups(table by region: keys chosen privately)"
    assert repr(survey.where("age > 30")).startswith("Session(table where age > 30: 6 columns")


def test_no_group_to_show_is_said() -> None:
    survey = session({"g": [str(index) for index in range(100)]})
    assert "no group to show; chosen privately" in str(survey.group_by("g").count(epsilon=1, delta=1e-6))


def test_sessions_on_one_ledger_use_the_same_rows_and_those_on_another_do_not(tmp_path: Path) -> None:
    columns = {"person": np.arange(3000) // 3, "x": np.arange(3000.0)}
    counts = [
        session(columns, unit="person", max_rows_per_unit=1, name="t", ledger=tmp_path / name, allow_seeded=False)
        .where("x % 3 == 1")
        .count(epsilon=epsilon)
        .value
        for name, epsilon in (("a.ledger", HUGE), ("a.ledger", HUGE + 1), ("b.ledger", HUGE), ("c.ledger", HUGE))
    ]
    assert counts[0] == counts[1]
    assert len(set(counts)) > 1


def test_a_damaged_ledger_opens_no_session(tmp_path: Path) -> None:
    ledger = tmp_path / "a.ledger"
    survey = session(ledger=ledger, name="t")
    for epsilon in (1, 2, 3):
        survey.count(epsilon=epsilon)
    with contextlib.closing(sqlite3.connect(ledger)) as connection:
        connection.execute("DROP TRIGGER dpstats_ledger_no_UPDATE")
        connection.execute("UPDATE dpstats_ledger SET body = replace(body, '\"2\"', '\"1\"') WHERE sequence = 5")
        connection.commit()
    with pytest.raises(dp.LedgerError, match=r"not sound: entry 5.*dpstats ledger verify"):
        session(ledger=ledger, name="t")


def test_a_refusal_says_whether_epsilon_or_delta_is_too_large() -> None:
    survey = session(budget=dp.Budget(epsilon=1, delta=1e-6))
    with pytest.raises(dp.BudgetError, match="Ask with a smaller epsilon"):
        survey.median("income", epsilon=2)
    with pytest.raises(dp.BudgetError, match="Ask with a smaller delta"):
        survey.mode("region", epsilon=1, delta=1e-5)


def test_the_type_of_the_unit_is_part_of_the_question(tmp_path: Path) -> None:
    columns = {"person": ["1", "1.0", "2", "2.0"] * 10, "x": list(range(40))}
    counts = [
        session(columns, unit="person", max_rows_per_unit=1, name="t", ledger=tmp_path / "a.ledger", types={"person": kind})
        .count(epsilon=HUGE)
        .value
        for kind in ("text", "number")
    ]
    assert counts == [4, 2]
