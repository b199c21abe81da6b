"""An analyst's own things: data sets, letters to owners, and the tokens of programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field, WithJsonSchema

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.privacy import spendable_epsilon
from dpstats.web.asking.caps import cap_values
from dpstats.web.asking.visits import NOT_YOURS, checked_number, desk_of
from dpstats.web.complaints import NOT_FOR_YOU
from dpstats.web.figures.spent_bar import spent_bar
from dpstats.web.office import Office
from dpstats.web.papers import Letter, LetterKind
from dpstats.web.people.people import MOST_TOKEN_DAYS, TOKEN_DAYS, Token, read_scope, scope_document
from dpstats.web.people.roles import Action, TokenScope, Who
from dpstats.web.routes import Body, Done, Plain, RouteTable, Visit
from dpstats.web.views.entrance import NoWords
from dpstats.web.views.history import before_the_last, line_values

ROUTES = RouteTable()
HOME, TOKENS = "/me", "/me/tokens"
LONGEST_TITLE, LONGEST_WORDS = 200, 4_000
MOST_LETTERS, MOST_QUESTIONS = 20, 5
"""On one's own page."""

Amount = Annotated[str | float | int, WithJsonSchema({"type": ["string", "number"]})]


class NewToken(Body):
    """What a program is to be allowed."""

    label: str
    actions: list[Action] = Field(min_length=1)
    datasets: list[str] | None = None
    largest_epsilon: str | None = None
    days: int = Field(default=TOKEN_DAYS, ge=1, le=MOST_TOKEN_DAYS)


class ProposedRelease(Body):
    """That an answer be published."""

    sequence: int
    title: str = Field(min_length=1, max_length=LONGEST_TITLE)
    words: str = Field(default="", max_length=LONGEST_WORDS)


class BudgetRequest(Body):
    """That a cap be raised."""

    epsilon: Amount
    why: str = Field(min_length=1, max_length=LONGEST_WORDS)


@ROUTES.page(HOME, Who.SIGNED_IN, "me.html")
def home(visit: Visit) -> Plain:
    """One's own data sets and what is left of them, and one's letters."""
    office, visitor = visit.office, visit.visitor
    assert visitor is not None
    names = office.catalog.datasets(visitor.name)
    if visitor.token is not None and visitor.token.datasets is not None:
        names = [each for each in names if each in visitor.token.datasets]
    caps = [cap_values(office.ledger, each, visitor.name) for each in names if each in office.ledger.account_names]
    own = [each for each in caps if each is not None]
    letters = office.papers.letters(person=visitor.name)[:MOST_LETTERS]
    return {
        "name": visitor.name,
        "roles": sorted(each.value for each in visitor.roles),
        "datasets": [{**each, "bar": _bar(each)} for each in own],
        "questions": _last_questions(office, visitor.name, [each["name"] for each in own]),
        "letters": [letter_values(each) for each in letters if each.dataset in names],
    }


@ROUTES.page(TOKENS, Who.SIGNED_IN, "tokens.html")
def list_tokens(visit: Visit) -> Plain:
    """The tokens of one's programs; what they are is shown once, when they are made."""
    own = visit.office.catalog.datasets(visit.name)
    return {"tokens": [_token_values(each) for each in visit.office.people.tokens(visit.name)], "datasets": own}


@ROUTES.act(TOKENS, Who.SIGNED_IN, NewToken, action=Action.READ, again=TOKENS)
def make_token(visit: Visit) -> Done:
    """Make a token for a program, at a browser only: no token makes tokens."""
    _refuse_tokens(visit)
    given = visit.body
    for name in given.datasets or ():
        if name not in visit.office.catalog.datasets(visit.name):
            raise InvalidParameterError(f"datasets: {name!r} is none of yours.")
    scope = _scope(given)
    token = visit.office.people.new_token(visit.name, given.label, scope, given.days)
    return Done(TOKENS, {"token": token, "label": given.label, "days": given.days}, template="new_token.html")


@ROUTES.act(f"{TOKENS}/{{token}}/revoke", Who.SIGNED_IN, NoWords, action=Action.READ, again=TOKENS)
def revoke_token(visit: Visit) -> Done:
    """Make a token useless, at once; at a browser only."""
    _refuse_tokens(visit)
    visit.office.people.revoke_token(visit.name, visit.path["token"])
    return Done(TOKENS, {"revoked": visit.path["token"]})


@ROUTES.act("/d/{name}/proposals", Who.ANALYST, ProposedRelease, action=Action.ASK, again="/d/{name}/history")
def propose(visit: Visit) -> Done:
    """Propose an answer of one's own to the owner of a data set, for publication."""
    desk, given = desk_of(visit), visit.body
    line = desk.line(visit.name, checked_number(given.sequence))
    if line is None:
        raise NOT_YOURS
    if line.document is None:
        raise InvalidParameterError("there was no reply to this question, so there is nothing to publish.")
    content = {"sequence": line.sequence, "title": given.title.strip(), "words": given.words.strip(), "question": line.question}
    number = visit.office.papers.send(LetterKind.PROPOSAL, desk.name, visit.name, content)
    return Done(HOME, {"letter": number})


@ROUTES.act("/d/{name}/requests", Who.ANALYST, BudgetRequest, action=Action.ASK, again=HOME)
def request_budget(visit: Visit) -> Done:
    """Ask the owner of a data set for a larger budget of one's own."""
    desk, given = desk_of(visit), visit.body
    content = {"epsilon": str(spendable_epsilon(given.epsilon)), "why": given.why.strip()}
    number = visit.office.papers.send(LetterKind.REQUEST, desk.name, visit.name, content)
    return Done(HOME, {"letter": number})


def _bar(cap: Plain) -> str | None:
    """One's own budget, and what of it is spent."""
    if cap["share"] is None:
        return None
    return spent_bar(cap["share"], [], f"You have spent {cap['spent']} of {cap['cap']}; {cap['left']} is left.")


def _last_questions(office: Office, actor: str, datasets: Sequence[str]) -> list[Plain]:
    """One's last questions about some data sets, the newest first."""
    found = []
    for name in datasets:
        first = before_the_last(office.ledger, name, actor, MOST_QUESTIONS)
        for line in office.ledger.questions(name, actor=actor, after=first, limit=MOST_QUESTIONS):
            found.append({"dataset": name, **line_values(line, None)})
    return sorted(found, key=lambda each: each["time"], reverse=True)[:MOST_QUESTIONS]


def letter_values(letter: Letter) -> Plain:
    """A letter and what became of it, for whoever has written it."""
    return {
        "id": letter.id,
        "kind": letter.kind.value,
        "dataset": letter.dataset,
        "sent": letter.sent,
        "content": dict(letter.content),
        "state": letter.state.value,
        "decided": letter.decided,
        "reply": letter.reply,
    }


def _scope(given: NewToken) -> TokenScope:
    plain = {
        "actions": [each.value for each in given.actions],
        "datasets": given.datasets,
        "largest_epsilon": given.largest_epsilon,
    }
    try:
        return read_scope(plain)
    except (ValueError, ZeroDivisionError):
        raise InvalidParameterError("largest_epsilon: write a number, such as 0.2.") from None


def _token_values(token: Token) -> Plain:
    return {
        "id": token.id,
        "label": token.label,
        **scope_document(token.scope),
        "created": token.created,
        "ends": token.ends,
        "is_good": token.is_good,
    }


def _refuse_tokens(visit: Visit) -> None:
    if visit.visitor is None or visit.visitor.token is not None:
        raise NOT_FOR_YOU
