"""Letters of analysts, as an owner reads them: proposals to publish, with the answer, and requests for more budget."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from dpstats.accounting.budgets import Budget
from dpstats.curator.ledger.ledger import Ledger
from dpstats.curator.ledger.openings import GROUP
from dpstats.curator.ledger.stores import LAST_NUMBER
from dpstats.foundations.errors import DpstatsError, InvalidParameterError, UnknownNameError
from dpstats.foundations.rounding import decimal_text
from dpstats.web.office import Office
from dpstats.web.owning.amounts import epsilon_of
from dpstats.web.owning.answers import answer_values, find_answer, publications
from dpstats.web.owning.grants import grant_values, listed_caps
from dpstats.web.papers import Letter, LetterKind, LetterState
from dpstats.web.routes import Plain


def letter_values(office: Office, letter: Letter) -> Plain:
    """A letter; a proposal brings its answer along, because whoever proposes an answer shows it."""
    said: Plain = {
        "id": letter.id,
        "kind": letter.kind.value,
        "person": letter.person,
        "sent": letter.sent,
        "state": letter.state.value,
        "decided_by": letter.decided_by,
        "decided": letter.decided,
        "reply": letter.reply,
        **{name: str(letter.content.get(name, "")) for name in ("title", "words", "why", "epsilon")},
        "answer": None,
        "cap": None,
    }
    if letter.state is not LetterState.OPEN:
        return said
    with suppress(DpstatsError):
        if letter.kind is LetterKind.PROPOSAL:
            found = find_answer(office.ledger, letter.dataset, proposed_sequence(letter))
            said["answer"] = answer_values(found, publications(office.ledger.reader(letter.dataset)))
        else:
            cap = raised_cap(office.ledger, letter)
            said["cap"] = {"of": cap.words, "now": decimal_text(cap.now.epsilon), "then": decimal_text(cap.then.epsilon)}
    return said


def open_letter(office: Office, dataset: str, number: int) -> Letter:
    """A letter about a data set that waits for an answer."""
    found = office.papers.letter(number) if number <= LAST_NUMBER else None
    if found is None or found.dataset != dataset:
        raise UnknownNameError(f"there is no letter {number} about {dataset}.")
    if found.state is not LetterState.OPEN:
        raise InvalidParameterError("this letter was answered already.")
    return found


def proposed_sequence(letter: Letter) -> int:
    """The number of the debit whose answer is proposed."""
    given = letter.content.get("sequence")
    if type(given) is not int:
        raise InvalidParameterError("this letter names no answer.")
    return given


@dataclass(frozen=True)
class RaisedCap:
    """What a request for more budget is about: the cap that stops the analyst first, as it is and as it would be."""

    words: str
    now: Budget
    then: Budget
    holder: Mapping[str, str | None] | None
    """The analyst, or the group, whose cap it is, in the words of a grant; None for the budget of the data set."""


def raised_cap(ledger: Ledger, letter: Letter, epsilon: str | float | None = None) -> RaisedCap:
    """What is set if a request is agreed to: the analyst's own cap, else their group's, else the data set's budget.

    `epsilon` is the new amount that the owner names; left out: what is asked for on top of what there is.
    """
    reader = ledger.reader(letter.dataset)
    grant = reader.granted(letter.person)
    if grant is None:
        raise InvalidParameterError(f"{letter.person} may not ask about {letter.dataset} any more: grant it again first.")
    words, now = "the budget of the data set", reader.budget
    holder: dict[str, str | None] | None = None
    if grant.budget is not None:
        words, now, holder = "their own cap", grant.budget, {"analyst": letter.person, "group": grant.group}
    elif grant.group is not None and (shared := _group_cap(ledger, letter.dataset, grant.group)) is not None:
        words, now, holder = f"the cap of the group {grant.group}", shared, {"group": grant.group}
    asked = now.epsilon + epsilon_of(str(letter.content.get("epsilon", ""))) if epsilon is None else epsilon_of(epsilon)
    return RaisedCap(words, now, Budget(asked, now.delta, now.accountant), holder)


@contextmanager
def agreeing(office: Office, letter: Letter, person: str, reply: str) -> Iterator[None]:
    """Answer a letter once, whoever clicks how often; it is open again if what was agreed to cannot be done."""
    office.papers.decide(letter.id, LetterState.AGREED, person, reply)
    try:
        yield
    except BaseException:
        office.papers.reopen(letter.id)
        raise


def _group_cap(ledger: Ledger, dataset: str, group: str) -> Budget | None:
    """The cap of a group; None where it has none."""
    accountant = ledger.reader(dataset).budget.accountant
    found = listed_caps(grant_values(ledger, dataset), accountant)
    return next((cap for kind, holder, _, cap in found if (kind, holder) == (GROUP, group)), None)
