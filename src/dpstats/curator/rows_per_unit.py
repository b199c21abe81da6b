"""How many rows of each unit are used: a number that the data holder names, or one that is found privately for a stated price.

A ledger keeps what was agreed on when its account was opened, so that later sessions need not repeat it. Where the number is to
be found, the terms hold a public cap and the price. The finding is a question like others: debited once, archived, and recalled
by every later session on the account.

Claim      Finding the number is epsilon-DP for the unit, at the stated epsilon, and is paid for beside all questions
Neighbors  ADD_REMOVE or CHANGE_ONE of a unit
Why        Exact numbers of units by octaves (engines/units/octaves.py) get noise before anything is made of them
           (mechanisms/unit_octaves.py). Once released, the number is public: questions are priced and bounded by it as if the
           data holder had named it
No reply   Costs the same as an answer: the table could not be read
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dpstats.accounting.budgets import Budget
from dpstats.curator.archive import document_of, result_of
from dpstats.curator.ledger.readers import AccountReader
from dpstats.curator.ledger.reservations import Goods, recall_or_reserve
from dpstats.curator.protection import ROW, Protection
from dpstats.curator.question_forms import archive_key
from dpstats.engines.cells import ColumnType
from dpstats.engines.complaints import shown
from dpstats.engines.stores.reach import check_reachable
from dpstats.engines.stores.store import Store
from dpstats.engines.units.contributions import MissingUnit
from dpstats.engines.units.octaves import count_octaves
from dpstats.foundations.errors import BudgetError, InvalidParameterError, MissingParameterError, NoReplyError
from dpstats.foundations.privacy import Neighbors, PrivacyCost, spendable_epsilon
from dpstats.foundations.randomness import SystemSource
from dpstats.foundations.registry import COULD_NOT, Answer, Outcome, outcome_of, reply_to
from dpstats.foundations.results import NoReply, Release
from dpstats.foundations.rounding import decimal_text
from dpstats.mechanisms.unit_octaves import UnitOctaves, noise_scale, noisy_octaves, octave_ends

if TYPE_CHECKING:
    from dpstats.curator.ledger.ledger import Account, Terms
    from dpstats.curator.ledger.statements import StatementLine

AUTO = "auto"
MOST_ROWS_PER_UNIT = 10**6
USUAL_MOST = 64
"""The cap where none is named. Noise grows with the bound, and beyond some dozens of rows of each unit few questions get a reply
at an epsilon of 1; a larger cap costs nothing but noise in the share of rows."""
METHOD = "unit_octaves"
NAME = "units.rows_per_unit"
"""What debits call it."""
VERSION = 1
CLAIM = "epsilon-DP: numbers of units by octaves of their rows, with whole-number Laplace noise"
ASKED, PRICE = "max_rows_per_unit", "rows_per_unit_epsilon"
"""The words in which it is asked for."""


@dataclass(frozen=True)
class RowsPerUnit:
    """How many rows of each unit are used at most, as it was agreed on."""

    most: int
    """The number itself; where it is to be found, the public cap on it."""
    epsilon: Fraction | None = None
    """What finding it costs; None where it is named."""

    @property
    def facts(self) -> dict[str, object]:
        """What the terms hold beside the number; empty where it is named."""
        return {} if self.epsilon is None else {ASKED: AUTO, PRICE: str(self.epsilon)}

    @classmethod
    def of_terms(cls, terms: Terms) -> RowsPerUnit:
        """What the terms of an account say."""
        price = terms.facts.get(PRICE)
        return cls(terms.max_rows_per_unit, None if price is None else Fraction(str(price)))


def left_out(unit: str) -> MissingParameterError:
    """What is said where nobody has named a number of rows."""
    way = " Or have it found privately: max_rows_per_unit='auto', rows_per_unit_epsilon=0.05."
    called = shown(unit)
    return MissingParameterError(
        f"max_rows_per_unit must say how many rows of each {called} are used at most: 1 if every {called} has one row; otherwise "
        f"a number that nearly every {called} stays within, such as 5. Rows beyond it are left out, and noise grows with it.{way}"
    )


def checked_rows_per_unit(unit: object, rows: object, epsilon: object = None, most: object = None) -> RowsPerUnit | None:
    """What was asked for, checked; None where nothing was, which only a ledger that knows the table makes good."""
    if rows != AUTO and (epsilon is not None or most is not None):
        raise InvalidParameterError("rows_per_unit_epsilon and most_rows_per_unit belong to max_rows_per_unit='auto'.")
    if unit == ROW:
        if rows is not None and (rows == AUTO or _whole(rows, ASKED) != 1):
            raise InvalidParameterError(
                "with unit='row' a unit has one row: leave max_rows_per_unit out, or name the column of the unit."
            )
        return RowsPerUnit(1)
    if rows is None:
        return None
    if rows != AUTO:
        return RowsPerUnit(_whole(rows, ASKED))
    if epsilon is None:
        raise MissingParameterError(
            "max_rows_per_unit='auto' needs rows_per_unit_epsilon, what finding it may cost: for example "
            "rows_per_unit_epsilon=0.05."
        )
    return RowsPerUnit(USUAL_MOST if most is None else _whole(most, "most_rows_per_unit"), spendable_epsilon(epsilon))


def found_protection(
    account: Account, store: Store, schema: Mapping[str, ColumnType], protection: Protection, key: bytes
) -> Protection:
    """The protection with the number of rows that the account has found, which is found and paid for now if it was not before.

    `store` has all rows of the table. A protection whose number was named comes back as it is.
    """
    asked = RowsPerUnit.of_terms(account.opened_with.terms)
    if asked.epsilon is None:
        return protection
    release = _released(account, store, schema, protection, key, asked.most, asked.epsilon)
    if isinstance(release, NoReply):
        raise NoReplyError(f"{release.question} got no reply: {release.reason} {release.advice}")
    return with_found(protection, release)


def with_found(protection: Protection, release: Release[UnitOctaves]) -> Protection:
    """The protection with a number of rows that was released."""
    octaves, unit = release.value, protection.unit
    found = f"found privately for epsilon = {decimal_text(release.cost.epsilon)}"
    beyond = f"; some {unit}s have more than {octaves.ends[-1]:,}" if octaves.beyond else ""
    share = octaves.share_words()
    if share and protection.missing_unit is MissingUnit.DROP:
        share = f"{share} with an id"  # rows without one are counted nowhere
    return replace(protection, rows_per_unit=octaves.rows, found=f"{found}{beyond}", share=share)


def recalled(account: AccountReader) -> Release[UnitOctaves] | None:
    """The release with the number of rows that an account has found; None where it is named, or was not found yet."""
    asked = RowsPerUnit.of_terms(account.opened_with.terms)
    if asked.epsilon is None:
        return None
    document = AccountReader.recall(account, archive_key(_details(asked.most, asked.epsilon)))
    found = None if document is None else result_of(document, ROWS_PER_UNIT)
    return found if isinstance(found, Release) else None


def found_among(lines: Iterable[StatementLine], terms: Terms) -> Release[UnitOctaves] | None:
    """As `recalled`, for a data set of these terms, from the lines of its statement."""
    asked = RowsPerUnit.of_terms(terms)
    if asked.epsilon is None:
        return None
    details = _details(asked.most, asked.epsilon)
    documents = [line.document for line in lines if line.document is not None and line.details == details]
    found = result_of(documents[0], ROWS_PER_UNIT) if documents else None
    return found if isinstance(found, Release) else None


def rows_used_on(account: AccountReader) -> int:
    """How many rows of each unit are used on an account: the number that was found, or that the terms hold."""
    release = recalled(account)
    return account.opened_with.terms.max_rows_per_unit if release is None else release.value.rows


def check_can_be_found(asked: RowsPerUnit, budget: Budget, unit: str, neighbors: Neighbors) -> None:
    """Raise where a budget is too small for finding the number, before an account is opened with it."""
    if asked.epsilon is None:
        return
    if not budget.fits(PrivacyCost(asked.epsilon, 0, neighbors, unit)):
        raise InvalidParameterError(
            f"rows_per_unit_epsilon={decimal_text(asked.epsilon)} is more than the whole budget, {budget}: name a smaller one, "
            "or max_rows_per_unit as a number."
        )


class _Revived:
    """What the archive needs to make the release again."""

    name = "rows_per_unit"

    @staticmethod
    def revive(plain: Any) -> UnitOctaves:
        """The value of the release."""
        return UnitOctaves.from_dict(plain)


ROWS_PER_UNIT = _Revived()


def _whole(value: Any, word: str) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__") or not 1 <= operator.index(value) <= MOST_ROWS_PER_UNIT:
        or_auto = ", or 'auto'" if word == ASKED else ""
        raise InvalidParameterError(f"{word} must be a whole number from 1 to {MOST_ROWS_PER_UNIT:,}, such as 3{or_auto}.")
    return operator.index(value)


def _details(most: int, epsilon: Fraction) -> dict[str, object]:
    """Everything that tells one finding from another on an account; the state of the rows is no part of it, so that it is paid
    for once."""
    return {"method": f"{NAME}_{METHOD}/{VERSION}", "arguments": {"most": most}, "epsilon": str(epsilon), "delta": "0"}


def _released(
    account: Account,
    store: Store,
    schema: Mapping[str, ColumnType],
    protection: Protection,
    key: bytes,
    most: int,
    epsilon: Fraction,
) -> Release[UnitOctaves] | NoReply:
    """The number of rows, recalled or paid for and found."""
    unit, neighbors, ends = protection.unit, protection.neighbors, octave_ends(most)
    cost, source = PrivacyCost(epsilon, 0, neighbors, unit), SystemSource()
    text, details, bound = f"rows of each {unit}", _details(most, epsilon), protection.bound(schema, key)
    assert bound is not None
    notes = (
        ("noise", f"discrete Laplace of scale {decimal_text(noise_scale(epsilon, neighbors))} in each number of {unit}s"),
        ("public", f"that at most {most:,} rows of each {unit} are used"),
    )

    def reply(outcome: Outcome) -> Any:
        return reply_to(text, outcome, cost=cost, method=METHOD, claim=CLAIM, private=source.private, last=notes)

    def compute() -> Any:
        def octaves() -> Answer:
            raw_counts = count_octaves(store, bound, ends).tolist()
            noisy_counts = noisy_octaves(raw_counts, epsilon, neighbors, source)
            return Answer(UnitOctaves(ends, noisy_counts, noise_scale(epsilon, neighbors)))

        return reply(outcome_of(octaves, source))

    try:
        found = recall_or_reserve(
            account,
            account.order(archive_key(details), text, cost, details),
            Goods(
                check=lambda: check_reachable(store),
                compute=compute,
                revive=lambda document: result_of(document, ROWS_PER_UNIT),
                refuse=lambda: reply(COULD_NOT),
                document=lambda result: None if isinstance(result, NoReply) else document_of(result),
            ),
        )
    except BudgetError as error:
        raise BudgetError(f"how many rows of each {unit} are used has to be found first, which costs {cost}: {error}") from None
    value: Release[UnitOctaves] | NoReply = found.value
    return value
