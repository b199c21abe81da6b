"""A debit is charged to everybody who has to pay for it, or to nobody; budgets are amended, and grants given and taken back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from dpstats.accounting.budgets import Budget
from dpstats.curator.ledger.books import Past
from dpstats.curator.ledger.entries import Entry, canonical_json
from dpstats.curator.ledger.ledger import Account, Ledger, Terms, open_ledger
from dpstats.curator.ledger.openings import cap_name, population_name
from dpstats.curator.ledger.pages import Page
from dpstats.curator.ledger.verification import verify_entries
from dpstats.foundations.errors import (
    AccessError,
    BudgetError,
    InvalidParameterError,
    LedgerError,
    MissingParameterError,
    UnknownNameError,
)
from dpstats.foundations.privacy import Neighbors
from tests.curator.ledger.conftest import TERMS, cost
from tests.curator.ledger.test_verification import complaints, relinked

BY = {"actor": "owner", "why": "as agreed"}


def terms(epsilon: object, accountant: str = "basic") -> Terms:
    return replace(TERMS, budget=Budget(epsilon, 1e-6, accountant))


def nested(ledger: Ledger, *, dataset: object = 3, population: object = 5, group: object = 2, analyst: object = 1) -> Account:
    """A data set in a population, and alice, who has a cap in a group that has one."""
    ledger.population("persons", terms(population))
    account = ledger.account("survey", terms(dataset), population="persons")
    ledger.grant("survey", group="team", budget=Budget(group, 1e-6), **BY)
    ledger.grant("survey", analyst="alice", group="team", budget=Budget(analyst, 1e-6), **BY)
    return account


def spent(ledger: Ledger) -> dict[str, str]:
    return {name: str(ledger.reader(name).total.loss) for name in ledger.account_names}


def test_a_debit_is_charged_to_data_set_population_group_and_analyst(address: str) -> None:
    with open_ledger(address) as ledger:
        account = nested(ledger)
        alice = account.acting_for("alice")
        alice.debit("key", "count()", cost("0.5", "1e-8"), {"method": "count/1"})
        account.debit("key", "count()", cost("0.25"))
        assert spent(ledger) == {
            "survey": "3/4",
            population_name("persons"): "3/4",
            cap_name("survey", "group", "team"): "1/2",
            cap_name("survey", "analyst", "alice"): "1/2",
        }
        assert ledger.cap("survey", analyst="alice").remaining == "epsilon = 0.5, delta = 9.9e-7"
        assert ledger.cap("survey", analyst="bob") is None
        assert ledger.verify().complaints == ()
        alices = [entry.dataset for entry in ledger.entries() if entry.kind == "debit" and entry.actor == "alice"]
        assert alices == ["survey", "population persons", "survey, group team", "survey, analyst alice"]
        mine = next(each for each in ledger.statements() if each.dataset == "survey, analyst alice")
        assert [(line.question, line.actor) for line in mine.lines] == [("count()", "alice")]


OTHERS = "this question costs more than is left of survey for everybody. Nothing was spent."


@pytest.mark.parametrize(
    ("budgets", "says"),
    [
        ({"analyst": "0.1"}, "of the budget of survey, analyst alice, epsilon = 0.1"),
        ({"analyst": "0.1", "dataset": "0.1"}, "of the budget of survey, analyst alice, epsilon = 0.1"),
        ({"group": "0.1"}, OTHERS),
        ({"dataset": "0.1"}, OTHERS),
        ({"population": "0.1"}, OTHERS),
    ],
)
def test_what_does_not_fit_somewhere_is_charged_nowhere_and_the_refusal_names_only_the_callers_own_limit(
    budgets: dict[str, str], says: str
) -> None:
    ledger = open_ledger(":memory:")
    account = nested(ledger, **budgets)
    with pytest.raises(BudgetError) as refused:
        account.acting_for("alice").debit("key", "count()", cost("0.5"))
    assert says in str(refused.value)
    others = ("0.1", "team", "persons", "epsilon =") if says == OTHERS else ("team", "persons", "of survey,  ")
    assert not any(word in str(refused.value) for word in others)
    assert set(spent(ledger).values()) == {"0"}
    account.acting_for("alice").debit("key", "count()", cost("0.1"))
    assert set(spent(ledger).values()) == {"1/10"}
    assert ledger.verify().sound


def test_the_data_holders_own_program_hears_which_budget_is_short() -> None:
    account = nested(open_ledger(":memory:"), population="0.1")
    with pytest.raises(BudgetError, match=r"of the budget of population persons, epsilon = 0\.1"):
        account.debit("key", "count()", cost("0.5"))


def test_tables_of_one_population_share_its_budget() -> None:
    ledger = open_ledger(":memory:")
    ledger.population("persons", terms(1, "zcdp"))
    survey, visits = (ledger.account(name, replace(terms(3), unit=name), population="persons") for name in ("survey", "visits"))
    survey.debit("key", "count()", replace(cost("0.1"), unit="survey"))
    visits.debit("key", "count()", replace(cost("0.1"), unit="visits"))
    assert ledger.reader("population persons").total.loss * 100 == 1  # two times epsilon**2 / 2
    with pytest.raises(LedgerError, match="has population persons, this session asks for none"):
        ledger.account("survey", replace(terms(3), unit="survey"))
    with pytest.raises(UnknownNameError, match="no population 'others'"):
        ledger.account("fourth", terms(3), population="others")
    for stranger in (replace(TERMS, unit="row", max_rows_per_unit=1), replace(TERMS, neighbors=Neighbors.CHANGE_ONE)):
        with pytest.raises(InvalidParameterError, match="cannot belong to the population persons"):
            ledger.account("third", stranger, population="persons")
    assert ledger.verify().complaints == ()


def test_nobody_asks_without_a_grant_or_after_it_was_revoked(address: str) -> None:
    with open_ledger(address) as ledger:
        account = nested(ledger)
        with pytest.raises(AccessError, match="bob may not ask about survey"):
            account.acting_for("bob").debit("key", "count()", cost("0.1"))
        alice = account.acting_for("alice")
        alice.record(alice.debit("key", "count()", cost("0.1")), {"value": 1})
        ledger.revoke("survey", group="team", **BY)
        with pytest.raises(AccessError, match="nothing is granted to the group any more"):
            alice.debit("key", "count()", cost("0.1"))
        ledger.grant("survey", analyst="alice", **BY)  # in no group, and without a cap
        alice.debit("key", "count()", cost("1.5"))
        ledger.revoke("survey", analyst="alice", **BY)
        for use in (lambda: alice.debit("key", "count()", cost("0.1")), lambda: alice.recall("key")):
            with pytest.raises(AccessError, match="alice may not ask"):
                use()
        with pytest.raises(UnknownNameError, match="nothing is granted to the analyst 'alice'"):
            ledger.revoke("survey", analyst="alice", **BY)
        with pytest.raises(UnknownNameError, match="nothing is granted to the group 'team'"):
            ledger.grant("survey", analyst="bob", group="team", **BY)
        ledger.grant("survey", analyst="alice", budget=Budget(2, 1e-6), **BY)
        assert ledger.cap("survey", analyst="alice").remaining == "epsilon = 1.9, delta = 0.000001"
        assert ledger.verify().complaints == ()


def test_budgets_are_amended_with_who_and_why(address: str) -> None:
    with open_ledger(address) as ledger:
        account = ledger.account("survey", TERMS)
        account.debit("key", "count()", cost(2))
        ledger.amend("survey", budget=Budget(4, 1e-6), **BY)
        account.debit("key", "count()", cost(2))
        ledger.amend("survey", budget=Budget(1, 1e-6), **BY)
        assert account.remaining == "epsilon = 0, delta = 0.000001"
        assert account.spent.epsilon == 4
        assert account.largest_epsilon == account.how_many(cost("0.1")) == 0
        with pytest.raises(BudgetError):
            account.debit("key", "count()", cost("0.1"))
        ledger.amend("survey", budget=Budget(5, 1e-6), **BY)
        assert (account.remaining, account.budget) == ("epsilon = 1, delta = 0.000001", Budget(5, 1e-6))
        with pytest.raises(LedgerError, match="the ledger has budget epsilon = 5"):
            ledger.account("survey", TERMS)
        ledger.amend("survey", budget=None, **BY)
        with pytest.raises(BudgetError, match=r"the budget of .* was closed"):
            account.debit("key", "count()", cost("0.1"))
        [statement] = ledger.statements()
        assert (statement.remaining, statement.closed) == ("epsilon = 0", True)
        ledger.amend_policy("survey", {"largest": "0.5"}, **BY)
        assert account.policy == {"largest": "0.5"}
        assert ledger.verify().complaints == ()


def test_what_cannot_be_amended_or_granted_is_refused_in_a_sentence() -> None:
    ledger = open_ledger(":memory:")
    ledger.account("survey", terms(3, "advanced"))
    advanced = Budget(3, 1e-6, "advanced")
    with pytest.raises(InvalidParameterError, match="an order that belongs to the first budget"):
        ledger.amend("survey", budget=Budget(4, 1e-6, "advanced"), **BY)
    with pytest.raises(InvalidParameterError, match="added up by the accountant 'advanced'"):
        ledger.amend("survey", budget=Budget(4, 1e-6), **BY)
    ledger.amend("survey", budget=None, **BY)
    ledger.amend("survey", budget=advanced, **BY)
    with pytest.raises(InvalidParameterError, match="a cap on it is of that kind too"):
        ledger.grant("survey", analyst="alice", budget=Budget(1), **BY)
    for wrong in ({"actor": "", "why": "so"}, {"actor": "owner", "why": " "}):
        with pytest.raises((InvalidParameterError, MissingParameterError)):
            ledger.amend("survey", budget=advanced, **wrong)
    with pytest.raises(MissingParameterError, match="name an analyst or a group"):
        ledger.revoke("survey", **BY)
    with pytest.raises(UnknownNameError, match="no account 'visits'"):
        ledger.grant("visits", analyst="alice", **BY)
    ledger.account("survey, analyst bob", terms(3))
    with pytest.raises(LedgerError, match="taken by another account"):
        ledger.grant("survey", analyst="bob", budget=advanced, **BY)
    assert ledger.verify().complaints == ()


def whole_ledger() -> list[Entry]:
    """An entry of each kind but signed heads, which need a key."""
    ledger = open_ledger(":memory:")
    account = nested(ledger)
    alice = account.acting_for("alice", "first")
    receipt = alice.debit("key-1", "median(x)", cost("0.5", "1e-8"), {"method": "median/1"})
    alice.record(receipt, {"value": 1.5})
    account.record_failure(account.debit("key-2", "mean(x)", cost("0.25")))
    ledger.amend("survey", budget=Budget(2, 1e-6), **BY)
    ledger.amend_policy("survey", {"largest": "0.5"}, **BY)
    account.note_edition("fingerprint", "2026", ["place"])
    account.note_publication(receipt.sequence + 4, "Median of x")
    ledger.revoke("survey", analyst="alice", **BY)
    return ledger.entries()


WHOLE = whole_ledger()


def index_of(kind: str, dataset: str = "survey", nth: int = 0) -> int:
    return [index for index, entry in enumerate(WHOLE) if (entry.kind, entry.dataset) == (kind, dataset)][nth]


def changed(index: int, change: Callable[[dict[str, Any]], object], **fields: str) -> list[Entry]:
    content = WHOLE[index].content()
    change(content)
    return relinked([*WHOLE[:index], WHOLE[index]._replace(body=canonical_json(content), **fields), *WHOLE[index + 1 :]])


DEBIT, ALICES = index_of("debit"), index_of("debit", "survey, analyst alice")
NOT_CHARGED = "is not charged to those who have to pay for it"
UNREAD = "has a body that cannot be read"


def as_it_is(_: dict[str, Any]) -> None:
    pass


@pytest.mark.parametrize(
    ("forged", "says"),
    [
        (changed(DEBIT, lambda body: body.pop("also")), NOT_CHARGED),
        (changed(DEBIT, lambda body: body["also"].pop()), NOT_CHARGED),
        (changed(DEBIT, lambda body: body["also"].reverse()), NOT_CHARGED),
        (changed(DEBIT, as_it_is, actor=""), NOT_CHARGED),
        (changed(DEBIT, as_it_is, actor="bob"), "was asked by somebody to whom nothing was granted"),
        (relinked([*WHOLE[:ALICES], *WHOLE[ALICES + 1 :]]), "charged to survey, analyst alice too, but the debit there does not"),
        (relinked(WHOLE[: DEBIT + 1]), "is charged to population persons too, but the debit there does not follow it"),
        (relinked([*WHOLE, WHOLE[ALICES]]), UNREAD),
        (changed(ALICES, lambda body: body["cost"].update(epsilon="1/4")), "too, but the debit there does not follow it"),
        (changed(ALICES, lambda body: body["total"].update(epsilon="1/4")), "but its cost makes it"),
        (changed(ALICES, as_it_is, actor="bob"), "too, but the debit there does not follow it"),
        (changed(index_of("open", "survey"), lambda body: body.update(population=None)), NOT_CHARGED),
        (changed(index_of("open", "survey"), lambda body: body.update(population="others")), UNREAD),
        (changed(index_of("open", "survey, analyst alice"), lambda body: body.update(holder="bob")), UNREAD),
        (
            changed(index_of("open", "survey, analyst alice"), lambda body: body["budget"].update(epsilon="1/8")),
            "its account does not",
        ),
        (changed(index_of("grant", nth=1), lambda body: body.update(group="others")), "group to which nothing was granted"),
        (changed(index_of("grant", nth=1), lambda body: body.update(budget=None)), NOT_CHARGED),
        (changed(index_of("grant"), as_it_is, actor=""), UNREAD),
        (changed(index_of("revoke"), as_it_is, key="analyst bob"), "revokes what was not granted"),
        (changed(index_of("amend"), as_it_is, actor=""), UNREAD),
        (changed(index_of("amend"), lambda body: body.update(why="")), UNREAD),
        (changed(index_of("amend"), lambda body: body["budget"].update(epsilon="0")), UNREAD),
        (changed(index_of("amend", nth=1), lambda body: body.update(policy=[])), UNREAD),
        (changed(index_of("answer"), as_it_is, actor=""), "answers no debit of its data set and question"),
        (changed(index_of("answer", nth=1), lambda body: body.update(failed=False)), UNREAD),
        (changed(index_of("publish"), lambda body: body.update(answer=1)), "publishes what is no answer about its data set"),
        (changed(index_of("edition"), lambda body: body.pop("label")), UNREAD),
        (relinked([*WHOLE, WHOLE[DEBIT]._replace(actor="alice")]), "pays a second time for the same request"),
    ],
)
def test_what_a_forger_of_hashes_cannot_hide_about_caps_and_grants(forged: list[Entry], says: str) -> None:
    assert complaints(WHOLE) == []
    found = complaints(forged)
    assert any(says in complaint for complaint in found), found


def test_entries_and_questions_come_in_pages(address: str) -> None:
    with open_ledger(address) as ledger:
        account = nested(ledger, population=1)
        alice = account.acting_for("alice")
        for number in range(4):
            asker = alice if number % 2 else account
            asker.record(asker.debit(f"key-{number}", f"median(x{number})", cost("0.1")), {"value": number})
        whole = [entry for entry in ledger.entries() if entry.dataset == "survey"]
        assert account.entries() == whole
        pages: list[Entry] = []
        after = None
        while page := account.entries(after=after, limit=3):
            assert len(page) <= 3
            pages, after = [*pages, *page], page[-1].sequence
        assert pages == whole
        hers = account.entries(actor="alice")
        assert [(each.kind, each.key) for each in hers] == [(kind, f"key-{n}") for n in (1, 3) for kind in ("debit", "answer")]
        assert account.entries(actor="alice", kinds=["answer"], start=hers[1].time, end=hers[3].time) == [hers[1]]
        assert account.entries(start=hers[2].time, limit=1) == [hers[2]]
        lines = ledger.questions("population persons", actor="alice", after=hers[0].sequence + 1)
        assert [(line.question, line.document) for line in lines] == [("median(x3)", {"value": 3})]
        assert [line.question for line in ledger.questions("survey", limit=2)] == ["median(x0)", "median(x1)"]


def insert(entries: list[Entry], page: Page) -> None:
    """Write entries as they are."""
    page.appended.extend(entries)


@pytest.mark.parametrize("since", range(len(WHOLE)))
def test_verification_goes_on_from_any_entry_up_to_which_all_was_sound(since: int, tmp_path: Path) -> None:
    if since and WHOLE[since - 1].kind == "debit" and "also" in WHOLE[since - 1].body:
        return  # what is charged to several accounts is written, and so seen, at once
    shares = [index for index, entry in enumerate(WHOLE) if '"of"' in entry.body]
    if since in shares:
        return
    for forged in (WHOLE, changed(ALICES, lambda body: body["total"].update(epsilon="1/4"))):
        with open_ledger(tmp_path / f"{len(list(tmp_path.iterdir()))}.ledger") as ledger:
            ledger._writer.write(partial(insert, forged))
            past = Past(ledger._writer.read, since, forged[since - 1].hash) if since else None
            found = verify_entries(forged[since:], past=past)
            assert (found.entries, found.head) == (len(forged), forged[-1].hash)
            assert bool(found.complaints) == (forged is not WHOLE and since <= ALICES)
