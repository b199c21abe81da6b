"""Every kind of ledger keeps the same promises: exact totals, no overspending, terms that stay, answers that are kept."""

from __future__ import annotations

import threading
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpstats.accounting.budgets import Budget
from dpstats.curator.ledger.accounts import Receipt
from dpstats.curator.ledger.ledger import Account, Terms, open_ledger
from dpstats.foundations.errors import BudgetError, InvalidParameterError, LedgerError
from dpstats.foundations.privacy import Neighbors, PrivacyCost
from tests.curator.ledger.conftest import TERMS, cost


def test_a_fresh_account_has_spent_nothing(account: Account) -> None:
    assert account.spent == cost(0)
    assert account.remaining == "epsilon = 3, delta = 0.000001"
    assert account.budget == TERMS.budget
    assert account.accountant.name == "basic"
    assert account.last_question is None
    assert [entry.kind for entry in account.entries()] == ["open"]


def test_debits_add_up_exactly(account: Account) -> None:
    for index in range(10):
        receipt = account.debit(f"key-{index}", "median(income)", cost("0.1", "1e-8"), {"method": "median/1"})
    assert account.spent == cost(1, "1e-7")
    assert receipt.total.loss == 1
    assert account.remaining == "epsilon = 2, delta = 9e-7"
    assert account.last_question == ("median(income)", cost("0.1", "1e-8"), Fraction(1, 2))
    assert account.how_many(cost("0.3")) == 6
    assert account.largest_epsilon == 2
    assert account.left.delta == Fraction(9, 10**7)


def test_what_does_not_fit_is_refused_and_spends_nothing(account: Account) -> None:
    account.debit("first", "median(income)", cost("2.9"))
    with pytest.raises(
        BudgetError, match=r"costs epsilon = 0.2, .* epsilon = 3, .* epsilon = 0.1, delta = 0.000001 left. Nothing was"
    ):
        account.debit("second", "median(income)", cost("0.2"))
    with pytest.raises(BudgetError, match=r"delta = 0\.00001"):
        account.debit("third", "median(income)", cost("0.1", "1e-5"))
    assert account.spent == cost("2.9")
    account.debit("fourth", "median(income)", cost("0.1"))
    assert account.remaining == "epsilon = 0, delta = 0.000001"
    assert [entry.kind for entry in account.entries()] == ["open", "debit", "debit"]


def test_an_answer_is_recalled_and_costs_nothing(account: Account) -> None:
    document = {"value": 0.1 + 0.2, "b": [1, None, "grün \x00 \ud800"], "a": {"nested": -1.5e-300}}
    assert account.recall("key") is None
    account.record(account.debit("key", "median(income)", cost(1)), document)
    recalled = account.recall("key")
    assert recalled == document
    assert list(recalled) == list(document)  # in the order in which it was written
    assert account.recall("another") is None
    assert account.spent == cost(1)


def test_of_two_answers_to_one_question_the_first_is_recalled(account: Account) -> None:
    first, second = (account.debit("key", "median(income)", cost(1)) for _ in range(2))
    account.record(second, {"value": 2})
    account.record(first, {"value": 1})
    assert account.recall("key") == {"value": 2}


def test_a_crash_between_debit_and_answer_costs_and_leaves_nothing_to_recall(address: str) -> None:
    with open_ledger(address) as ledger:
        ledger.account("survey", TERMS).debit("key", "median(income)", cost(1))
    with open_ledger(address) as ledger:
        account = ledger.account("survey", TERMS)
        assert account.recall("key") is None
        assert account.spent == cost(1)
        account.debit("key", "median(income)", cost(1))
        assert account.spent == cost(2)
        assert ledger.verify().sound


def test_a_debit_is_answered_at_most_once_and_only_in_its_own_account(account: Account) -> None:
    receipt = account.debit("key", "median(income)", cost(1))
    account.record(receipt, {"value": 1})
    with pytest.raises(LedgerError, match="answered already"):
        account.record(receipt, {"value": 2})
    for stranger in (replace(receipt, sequence=1), replace(receipt, key="other"), replace(receipt, hash="0" * 64)):
        with pytest.raises(LedgerError, match="not of this ledger"):
            account.record(stranger, {"value": 2})
    assert account.recall("key") == {"value": 1}


@pytest.mark.parametrize("document", [{"value": float("nan")}, {"value": {1, 2}}, {"value": b"raw"}])
def test_a_document_is_plain_json(document: dict[str, Any]) -> None:
    account = open_ledger(":memory:").account("survey", TERMS)
    with pytest.raises(InvalidParameterError, match="plain JSON"):
        account.record(account.debit("key", "median(income)", cost(1)), document)


def test_data_sets_in_one_ledger_have_budgets_of_their_own_and_one_chain(address: str) -> None:
    with open_ledger(address) as ledger:
        survey, visits = ledger.account("survey", TERMS), ledger.account("visits", replace(TERMS, budget=Budget(1)))
        survey.debit("key", "median(income)", cost("2.5"))
        visits.debit("key", "count()", cost(1))
        with pytest.raises(BudgetError, match="visits"):
            visits.debit("key", "count()", cost("0.1"))
        assert (survey.spent, visits.spent) == (cost("2.5"), cost(1))
        assert [entry.sequence for entry in ledger.entries()] == [1, 2, 3, 4]
        assert {entry.dataset for entry in survey.entries()} == {"survey"}
        assert ledger.head == ledger.entries()[-1].hash
        assert ledger.verify().sound


def test_what_was_spent_is_still_spent_when_the_ledger_is_opened_again(address: str) -> None:
    for _ in range(3):
        with open_ledger(address) as ledger:
            ledger.account("survey", TERMS).debit("key", "median(income)", cost(1))
    with open_ledger(address) as ledger, pytest.raises(BudgetError):
        ledger.account("survey", TERMS).debit("key", "median(income)", cost("1e-9"))


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (replace(TERMS, budget=Budget(5, 1e-6)), "budget epsilon = 3, delta = 0.000001, this session asks for epsilon = 5"),
        (replace(TERMS, budget=Budget(3, 1e-6, "zcdp")), r"asks for epsilon = 3, delta = 0.000001 \(accountant zcdp\)"),
        (replace(TERMS, unit="household"), "unit person, this session asks for household"),
        (replace(TERMS, neighbors=Neighbors.CHANGE_ONE), "neighbors add_remove, this session asks for change_one"),
        (replace(TERMS, max_rows_per_unit=4), "max_rows_per_unit 3, this session asks for 4"),
        (replace(TERMS, facts={"table": "other.csv"}), '\'table\' "survey.parquet", this session asks for "other.csv"'),
        (replace(TERMS, facts={}), "'table' \"survey.parquet\", this session asks for none"),
    ],
)
def test_other_terms_are_refused_with_the_difference(tmp_path: Path, asked: Terms, says: str) -> None:
    with open_ledger(tmp_path / "survey.ledger") as ledger:
        ledger.account("survey", TERMS)
        with pytest.raises(LedgerError, match=says):
            ledger.account("survey", asked)
        assert ledger.account("survey", TERMS).terms == TERMS
        assert len(ledger.entries()) == 1


def test_budgets_that_differ_in_a_late_digit_are_told_apart() -> None:
    ledger = open_ledger(":memory:")
    first, second = (Terms(Budget(f"3.000000000{digit}")) for digit in (1, 2))
    ledger.account("survey", first)
    with pytest.raises(LedgerError, match=r"30000000001/10000000000.* asks for .*15000000001/5000000000"):
        ledger.account("survey", second)


def test_a_zcdp_account_takes_many_small_questions(account: Account) -> None:
    ledger = open_ledger(":memory:")
    zcdp = ledger.account("survey", Terms(Budget(1, 1e-6, "zcdp"), unit="person"))
    for index in range(zcdp.how_many(cost("0.03"))):
        zcdp.debit(f"key-{index}", "median(income)", cost("0.03"))
    with pytest.raises(BudgetError, match=r"costs rho = 0.00045, .* rho = "):
        zcdp.debit("last", "median(income)", cost("0.03"))
    assert index + 1 == 37
    assert zcdp.spent.epsilon <= 1
    assert zcdp.spent.delta == Fraction(1, 2 * 10**6)
    assert ledger.verify().sound


@pytest.mark.parametrize(("accountant", "pure", "exponential"), [("zcdp", 37, 148), ("advanced", 54, 203), ("basic", 33, 33)])
def test_an_account_takes_as_many_questions_as_their_method_allows(accountant: str, pure: int, exponential: int) -> None:
    ledger = open_ledger(":memory:")
    terms = Terms(Budget(1, 1e-6, accountant), unit="person")
    for name, loss, fit in (("laplace", Fraction(1, 2), pure), ("exponential", Fraction(1, 8), exponential)):
        account = ledger.account(name, terms)
        assert account.how_many(cost("0.03"), loss) == fit
        for index in range(fit):
            account.debit(f"key-{index}", "median(income)", cost("0.03"), None, loss)
        with pytest.raises(BudgetError, match="Nothing was spent"):
            account.debit("last", "median(income)", cost("0.03"), None, loss)
        assert account.last_question == ("median(income)", cost("0.03"), loss)
        assert account.spent.epsilon <= 1
        with pytest.raises(InvalidParameterError, match="at most 1/2"):
            account.debit("wrong", "median(income)", cost("1e-9"), None, Fraction(1))
    assert ledger.verify().sound


def test_an_amount_of_many_digits_is_kept_exactly(account: Account) -> None:
    odd = cost(Fraction(10**300, 3 * 10**300 + 1), Fraction(1, 10**7 + 10**200))
    account.debit("key", "median(income)", odd)
    assert account.last_question == ("median(income)", odd, Fraction(1, 2))
    assert account.spent.epsilon - odd.epsilon < Fraction(1, 10**18)
    assert account.spent.epsilon > odd.epsilon


def test_a_cost_of_another_kind_is_refused(account: Account) -> None:
    for stranger in (PrivacyCost(1), PrivacyCost(1, 0, "change_one", "person")):
        with pytest.raises(InvalidParameterError, match="charged per person under add_remove"):
            account.debit("key", "median(income)", stranger)
    assert account.spent == cost(0)


@pytest.mark.parametrize("key", ["", "x" * 201, "grün", "a\nb", None, 3])
def test_a_key_is_short_plain_text(key: Any) -> None:
    account = open_ledger(":memory:").account("survey", TERMS)
    with pytest.raises(InvalidParameterError, match="printable ASCII"):
        account.debit(key, "median(income)", cost(1))
    assert account.spent == cost(0)


@pytest.mark.parametrize("name", ["", " ", "two\nlines", "x" * 201, None])
def test_a_data_set_has_a_name_of_one_line(name: Any) -> None:
    with pytest.raises(InvalidParameterError, match="data set's name"):
        open_ledger(":memory:").account(name, TERMS)


def test_details_are_kept_without_floats(account: Account) -> None:
    account.debit("key", "quantile(x, 0.9)", cost(1), {"q": 0.9, "third": Fraction(1, 3), "list": [1, True, None, "ü"]})
    content = account.entries()[-1].content()
    assert content["details"] == {"q": "0.9", "third": "1/3", "list": [1, True, None, "ü"]}
    for value in ({1, 2}, b"raw", {1: 2}, 10**5000):
        with pytest.raises(InvalidParameterError, match="plain values"):
            account.debit("key", "median(x)", cost(1), {"value": value})
    assert account.spent == cost(1)


def test_threads_share_an_account_and_never_overspend(account: Account) -> None:
    receipts: list[Receipt] = []
    refused: list[BudgetError] = []
    start = threading.Barrier(8)

    def work(thread: int) -> None:
        start.wait()
        for index in range(8):
            try:
                receipts.append(account.debit(f"{thread}-{index}", "count()", cost("1/10")))
            except BudgetError as error:
                refused.append(error)

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(receipts), len(refused)) == (30, 34)
    assert sorted(receipt.total.loss for receipt in receipts) == [Fraction(count, 10) for count in range(1, 31)]
    assert account.spent == cost(3)


def test_a_ledger_in_memory_is_gone_with_its_process_and_shared_by_nobody() -> None:
    first, second = (open_ledger(":memory:").account("survey", TERMS) for _ in range(2))
    first.debit("key", "count()", cost(1))
    assert (first.spent, second.spent) == (cost(1), cost(0))


def test_an_account_outlives_the_name_of_its_ledger(address: str) -> None:
    account = open_ledger(address).account("survey", TERMS)
    account.debit("key", "count()", cost(1))
    account.debit("key", "count()", cost(1))
    assert account.spent == cost(2)
