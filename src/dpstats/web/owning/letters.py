"""Letters of analysts, as an owner reads them: proposals to publish, with the answer, and requests for more budget."""

from __future__ import annotations

from contextlib import suppress

from dpstats.accounting.budgets import Budget
from dpstats.curator.ledger.ledger import Ledger
from dpstats.curator.ledger.stores import LAST_NUMBER
from dpstats.foundations.errors import DpstatsError, InvalidParameterError, UnknownNameError
from dpstats.foundations.rounding import decimal_text
from dpstats.web.office import Office
from dpstats.web.owning.amounts import epsilon_of
from dpstats.web.owning.answers import answer_values, find_answer, publications
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
            said["cap"] = raised_cap(office.ledger, letter)
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


def raised_cap(ledger: Ledger, letter: Letter) -> Plain:
    """What would be set if the request was agreed to: the analyst's own cap, or the data set's budget where there is none."""
    asked = epsilon_of(str(letter.content.get("epsilon", "")))
    reader = ledger.reader(letter.dataset)
    grant = reader.granted(letter.person)
    own = grant is not None and grant.budget is not None
    now = grant.budget if grant is not None and grant.budget is not None else reader.budget
    return {
        "of": "their own cap" if own else "the budget of the data set",
        "is_own": own,
        "now": decimal_text(now.epsilon),
        "then": decimal_text(now.epsilon + asked),
        "group": None if grant is None else grant.group,
    }


def raised_budget(ledger: Ledger, letter: Letter, epsilon: str | float | None) -> tuple[Budget, str | None, bool]:
    """The cap to set, the analyst's group, and whether it is the analyst's own: of the amount that the owner names, or asked."""
    reader = ledger.reader(letter.dataset)
    grant = reader.granted(letter.person)
    if grant is None:
        raise InvalidParameterError(f"{letter.person} may not ask about {letter.dataset} any more: grant it again first.")
    now = grant.budget or reader.budget
    wanted = now.epsilon + epsilon_of(str(letter.content.get("epsilon", ""))) if epsilon is None else epsilon_of(epsilon)
    return Budget(wanted, now.delta, now.accountant), grant.group, grant.budget is not None
