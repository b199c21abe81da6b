"""What is left is the least of all accounts that a question is charged to, wherever it is said."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dpstats as dp
from dpstats.cli.main import main
from dpstats.curator.documents.reading import read_document
from dpstats.curator.ledger.ledger import Ledger, Terms, open_ledger
from dpstats.curator.publishing.batch import answer_batch, price_batch
from dpstats.curator.remaining import Remaining
from dpstats.curator.session import Session
from dpstats.web.owning.holdings import standing_values
from dpstats.web.views.audit import _account
from dpstats.web.views.owner_release import may_fit

ROWS: dict[str, Any] = {"person": list(range(40)), "x": [float(number) for number in range(40)]}
OWNER = {"actor": "owner", "why": "as agreed"}


def protected(ledger: Ledger, name: str) -> Session:
    budget = dp.Budget(3, "1e-6")
    return dp.protect(
        ROWS, name=name, unit="person", max_rows_per_unit=1, budget=budget, ledger=ledger, population="persons", edition="1"
    )


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A ledger whose population of two data sets has epsilon = 0.5 left."""
    found = open_ledger(tmp_path / "clinic.ledger")
    protected(found, "visits").count(epsilon="2.5")
    protected(found, "bills")
    return found


def test_a_session_says_what_its_population_has_left(ledger: Ledger) -> None:
    bills = protected(ledger, "bills")
    left = "epsilon = 0.5, delta = 0.000001 (of population persons)"
    assert str(bills.remaining) == bills.ledger.remaining == left
    assert (bills.remaining.epsilon, bills.remaining.more("median", epsilon="0.1")) == (dp.PrivacyCost("0.5").epsilon, 5)
    assert left in str(bills.describe())
    assert left in repr(bills)
    bills.count(epsilon="0.5")
    assert str(bills.remaining).startswith("epsilon = 0, delta = 0.000001 (of population persons), too little for one more")
    assert (bills.remaining.epsilon, bills.remaining.more("count", epsilon="0.1")) == (Fraction(0), 0)
    with pytest.raises(dp.BudgetError, match=r"of the budget of population persons, .* there is epsilon = 0,"):
        bills.median("x", epsilon="0.1")


def test_what_a_data_set_has_left_is_said_where_that_is_less(ledger: Ledger) -> None:
    ledger.amend("bills", budget=dp.Budget("0.2", "1e-7"), **OWNER)
    reader = ledger.reader("bills")
    assert reader.remaining == "epsilon = 0.2, delta = 1e-7"
    assert (reader.largest_epsilon, reader.largest_delta) == (dp.PrivacyCost("0.2").epsilon, dp.PrivacyCost(1, "1e-7").delta)
    ledger.amend("bills", budget=dp.Budget("0.8", "1e-7"), **OWNER)
    assert reader.remaining == "epsilon = 0.5, delta = 1e-7 (of population persons)"  # no question may have more of either


def test_owners_auditors_and_the_command_line_are_told_the_same(ledger: Ledger, capsys: pytest.CaptureFixture[str]) -> None:
    left = "epsilon = 0.5, delta = 0.000001 (of population persons)"
    assert standing_values(ledger.reader("bills"))["left"] == _account(ledger, "bills")["left"] == left
    assert not may_fit(ledger.reader("bills"), dp.PrivacyCost("0.6", unit="person"))
    main(["ledger", "show", str(ledger.address), "--dataset", "bills"])
    assert f"remaining     {left}" in capsys.readouterr().out
    assert ledger.statements()[-1].to_dict()["remaining"]["epsilon"] == "1/2"


def test_a_batch_that_does_not_fit_names_the_account_that_has_too_little(ledger: Ledger) -> None:
    bills = protected(ledger, "bills")
    batch = price_batch(bills, [read_document(bills.document("median", "x", epsilon=each)) for each in ("0.3", "0.4")])
    with pytest.raises(dp.BudgetError, match=r"all of it costs epsilon = 0.7, and of the budget of population persons, .* 0.5"):
        answer_batch(batch)


def test_accounts_that_count_otherwise_are_compared_by_what_a_question_may_cost() -> None:
    ledger = open_ledger(":memory:")
    ledger.population("persons", Terms(dp.Budget(1, "1e-6", accountant="zcdp"), unit="person"))
    survey = ledger.account("survey", Terms(dp.Budget(3), unit="person"), population="persons")
    assert survey.remaining.startswith("rho = ")
    assert survey.remaining.endswith(" (of population persons)")
    assert Remaining(survey).epsilon == ledger.reader("population persons").largest_epsilon < 1


def test_an_analyst_counts_with_all_caps_and_is_told_of_the_own_one(ledger: Ledger) -> None:
    ledger.grant("bills", group="team", budget=dp.Budget("0.3"), **OWNER)
    ledger.grant("bills", analyst="alice", group="team", budget=dp.Budget("0.4"), **OWNER)
    alice = protected(ledger, "bills")._account.acting_for("alice")
    assert [each.name for each in alice.paying] == ["bills", "population persons", "bills, group team", "bills, analyst alice"]
    cost = dp.PrivacyCost("0.1", unit="person")
    assert (alice.how_many(cost), alice.largest_epsilon) == (3, dp.PrivacyCost("0.3").epsilon)
    assert not alice.fits(dp.PrivacyCost("0.4", unit="person"))
    assert ledger.cap("bills", analyst="alice").remaining == "epsilon = 0.4"
