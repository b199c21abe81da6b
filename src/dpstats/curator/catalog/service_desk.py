"""The service desk: where analysts who are not trusted ask about one data set.

A document and the name of whoever asks go in; a `Release`, a `NoReply` or an error about public things comes out. Whoever may not
ask, and who asks about what there is not, are told the same. Before the debit everything is checked from public things; after it
the work is done in another process, within a public time, and the reply leaves at the end of that time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar

from dpstats.curator.archive import Result, result_of
from dpstats.curator.catalog.ceilings import (
    MOST_QUESTIONS,
    check_document,
    check_plan_lines,
    check_request,
)
from dpstats.curator.catalog.planner import Planner, not_stored
from dpstats.curator.catalog.policed_desk import PaidAnswer, PolicedDesk, PreparedQuestion, no_access, seconds_of
from dpstats.curator.catalog.policy import BY_GROUP, OWN, Policy, policy_of
from dpstats.curator.catalog.quotes import BasketQuote, Quote
from dpstats.curator.catalog.recall import Asked, Keys, KnownKeys, RecalledAnswer, recalled
from dpstats.curator.desk import Compute, Desk, Priced, Request, form_of, loss_of
from dpstats.curator.documents.document import QuestionDocument
from dpstats.curator.documents.plan_documents import PlanDocument, read_plan
from dpstats.curator.documents.reading import read_document
from dpstats.curator.documents.values import named
from dpstats.curator.jobs.job_process import PaidJob
from dpstats.curator.jobs.pool import JobPool
from dpstats.curator.jobs.recipes import TableRecipe
from dpstats.curator.jobs.reply_times import Departure, archived_after, leaving_at, ready_after
from dpstats.curator.jobs.slots import Slots
from dpstats.curator.ledger.grants import Grant
from dpstats.curator.ledger.ledger import Ledger
from dpstats.curator.ledger.readers import AccountReader, Rights
from dpstats.curator.ledger.statements import StatementLine
from dpstats.curator.ledger.stores import EntryTable
from dpstats.curator.planned_documents import PlannedRequest, planned_request
from dpstats.curator.planning.curves import LARGEST_PLANNED, LEAST_EPSILON, POINTS, EpsilonCurve, epsilon_grid
from dpstats.curator.planning.forecasts import Plan
from dpstats.curator.planning.shapes import checked_shapes
from dpstats.curator.protection import Protection
from dpstats.curator.publishing.batch import (
    AnsweredBatch,
    PricedBatch,
    answer_batch,
    archived_answers,
    price_batch,
)
from dpstats.curator.remaining import LeftAfter, left_after
from dpstats.curator.rows_per_unit import recalled as rows_found_on
from dpstats.curator.scope import Scope
from dpstats.curator.session import Session
from dpstats.engines.stores.reach import check_reachable
from dpstats.engines.views import TableView
from dpstats.foundations.errors import DpstatsError, InvalidParameterError, LedgerError
from dpstats.foundations.privacy import PrivacyCost
from dpstats.foundations.results import Release
from dpstats.mechanisms.unit_octaves import UnitOctaves

T = TypeVar("T")


@contextmanager
def _in_public_words() -> Iterator[None]:
    """What the ledger complains of names files and databases, which are no business of analysts."""
    try:
        yield
    except LedgerError:
        raise LedgerError(
            "this cannot be answered now: try again later, or ask the data holder. What was paid for, your history says."
        ) from None


class ServiceDesk:
    """One open data set of a catalog, for everybody to whom something is granted on it."""

    def __init__(self, ledger: Ledger, desk: Desk, recipe: TableRecipe, pool: JobPool, slots: Slots, planner: Planner) -> None:
        assert desk.account is not None
        self._ledger = ledger
        self.name = desk.name
        self._desk = desk
        self._account = desk.account
        self._recipe = recipe.to_json()
        self._pool = pool
        self._slots = slots
        self._planner = planner
        self._keys = KnownKeys()
        pool.open(self._recipe)

    def close(self) -> None:
        """Let workers forget the table as it was opened here; another desk takes the place of this one."""
        self._pool.forget(self._recipe)

    @property
    def policy(self) -> Policy:
        """What the owner allows, as of now."""
        return Policy.from_dict(self._account.policy)

    @property
    def is_current(self) -> bool:
        """Whether the table is still the one that was opened, and can be reached."""
        try:
            check_reachable(self._desk.store)
        except DpstatsError:
            return False
        return True

    @_in_public_words()
    def ask(self, document: object, actor: str, request: str = "") -> Any:
        """The answer to a question. `request` is what the asker calls it: the same words get the same reply, and pay once."""
        with Departure() as departure:
            asked = _read(document)
            session, policy = self._session(actor, request)
            priced = _priced_alone(session, policy, asked)
            elsewhere = self._elsewhere(asked.to_dict(), priced.request, actor, policy, departure)
            return self._for(actor, session._table.answer(replace(priced, compute=elsewhere)))

    @_in_public_words()
    def prepare(self, document: object, actor: str, request: str = "") -> PreparedQuestion:
        """A question, checked and priced, to be asked by `ask_prepared`; nothing is spent yet."""
        return self._prepared(document, actor, request, self._account.rights(actor))

    def _prepared(self, document: object, actor: str, request: str, rights: Rights) -> PreparedQuestion:
        asked = _read(document)
        session, policy = self._session_by(rights, actor, request)
        return PreparedQuestion(asked, actor, session._table, policy, _priced_alone(session, policy, asked))

    @_in_public_words()
    def ask_prepared(self, prepared: PreparedQuestion) -> PaidAnswer:
        """The answer to a prepared question, as the archive has it; what was paid for stays there, whoever may have it."""
        with prepared.departure as departure:
            priced = prepared.priced
            compute = self._elsewhere(prepared.plain, priced.request, prepared.actor, prepared.policy, departure)
            result = prepared.table.settle(replace(priced, compute=compute), prepared.missed)
            return PaidAnswer(result, self._grant(prepared.actor))

    @_in_public_words()
    def recall(self, document: object, actor: str) -> dict[str, Any] | None:
        """The archived answer to a question, as plain JSON values; None where there is none, so that it would have to be paid.

        It is the document (`document_of`) of what `ask` would answer, and whatever `ask` would refuse before it looks into the
        archive is refused here.
        """
        found = self.recall_paid(document, actor)
        return None if found is None else found.document

    def recall_paid(self, document: object, actor: str) -> RecalledAnswer | None:
        """As `recall`, with the receipt of the debit that has paid for the answer."""
        found = self.recall_or_prepare(document, actor)
        return found if isinstance(found, RecalledAnswer) else None

    @_in_public_words()
    def recall_or_prepare(self, document: object, actor: str, request: str = "") -> RecalledAnswer | PreparedQuestion:
        """The archived answer to a question, or the question, to be paid for by `ask_prepared`."""
        text = check_document(document)
        kind = "text" if isinstance(document, str) else "values"  # whose numbers are read in different ways
        asked: list[tuple[Asked, Rights]] = []

        def known_keys(table: EntryTable) -> Keys | None:
            rights = self._account.rights_in(table, actor)
            if rights.grant is None:
                raise no_access(self.name)
            policy = policy_of(rights.policy)
            asked[:] = [((f"{kind} {text}", policy, _audience(policy, rights.grant, actor)), rights)]
            return self._keys.find(asked[0][0])

        answer = recalled(self._account, known_keys)
        if isinstance(answer, RecalledAnswer):
            return answer
        [(known, rights)] = asked
        prepared = self._prepared(document, actor, request, rights)
        if answer is not None:
            return replace(prepared, missed=answer)
        form = form_of(prepared.table, prepared.priced.request)
        self._keys.keep(known, form.keys)
        answer = recalled(self._account, lambda table: self._allowed_keys(table, actor, form.keys))
        if isinstance(answer, RecalledAnswer):
            return answer
        return replace(prepared, missed=None if answer is None else replace(answer, details=form.details))

    @_in_public_words()
    def recall_together(self, documents: Sequence[object], actor: str) -> tuple[list[Result], int] | None:
        """The archived answers to questions that were asked together, and their debit's number; None where there are none."""
        session, policy = self._session(actor, "")
        keys, account = self._priced(session, policy, documents).form().keys, self._account.acting_for(actor)
        document = account.recall(*keys)
        return None if document is None else (archived_answers(document), account.debit_behind(*keys).sequence)

    @_in_public_words()
    def ask_together(self, documents: Sequence[object], actor: str, request: str = "") -> AnsweredBatch:
        """The answers to several questions, paid for by one debit, or by none."""
        with Departure() as departure:
            session, policy = self._session(actor, request)
            batch = self._priced(session, policy, documents)
            elsewhere = [
                replace(each, compute=self._elsewhere(document.to_dict(), each.request, actor, policy, departure))
                for each, document in zip(batch.priced, batch.documents, strict=True)
            ]
            return self._for(actor, answer_batch(replace(batch, priced=tuple(elsewhere))))

    @_in_public_words()
    def price(self, document: object, actor: str) -> Quote:
        """What a question would cost; it is not asked."""
        session, policy = self._session(actor, "")
        request, cap = _priced_alone(session, policy, _read(document)).request, self.own_cap(actor)
        own = None if cap is None else self._left_after(cap, actor, request.cost, loss_of(self._desk, request))
        method = request.question.method
        return Quote(request.text, request.cost, seconds_of(policy, request), own, method.name, method.claim)

    @_in_public_words()
    def price_together(self, documents: Sequence[object], actor: str) -> BasketQuote:
        """What several questions would cost, paid for by one debit; they are not asked."""
        session, policy = self._session(actor, "")
        batch, cap = self._priced(session, policy, documents), self.own_cap(actor)
        quotes = [Quote(each.request.text, each.request.cost, seconds_of(policy, each.request)) for each in batch.priced]
        own = None if cap is None else self._left_after(cap, actor, batch.cost, batch.loss)
        return BasketQuote(tuple(quotes), batch.cost, own)

    @_in_public_words()
    def plan(self, document: object, actor: str) -> Plan:
        """What to expect of a question before it is asked; no data is read and nothing is spent.

        The document is that of the question with one more word, "plan", which has the words of `Session.plan`:
        {..., "plan": {"n": 5000, "epsilon": 0.2}}, or {"half_width": "5%"} for the epsilon that it takes. One JSON object can be
        sent as it is, and is checked as a question is. Stored tables answer at once, whatever else is worked on.
        """
        return self._planner.plan(self._planned_alone(document, actor), self._recipe, actor)

    @_in_public_words()
    def stored_plan(self, document: object, actor: str) -> Plan | None:
        """As `plan`, from the stored tables alone; None where it would have to be simulated."""
        return self._planned_alone(document, actor).stored()

    @_in_public_words()
    def curve(self, document: object, actor: str) -> EpsilonCurve:
        """The half-width to expect over many epsilons, from the stored tables, for a slider; a document as for `plan`.

        Without a list of epsilons, 40 in equal ratios from 0.01 to what is left of the asker's own cap, or to the largest that
        the policy allows; without either, to 10. For the other way round, `plan` with a half-width finds the epsilon.
        """
        plan = _read_plan(document, POINTS)
        if "half_width" in plan.words or "repeats" in plan.words:
            raise InvalidParameterError("a curve takes n, epsilon and shape: for a half-width, or a simulation, ask for a plan.")
        epsilons = tuple(sorted(set(plan.epsilons))) or epsilon_grid(self._largest_epsilon(actor))
        found = self._planned(plan, actor, epsilons[-1]).curve(epsilons)
        if found is None:
            raise not_stored()
        return found

    @_in_public_words()
    def history(self, actor: str, *, after: int | None = None, limit: int | None = 100) -> list[StatementLine]:
        """What an analyst has asked and paid for, in pages, with the answers."""
        self._grant(actor)
        return self._ledger.questions(self.name, actor=actor, after=after, limit=limit)

    @_in_public_words()
    def remaining(self, actor: str) -> str | None:
        """What is left of an analyst's own cap, in words; None where there is none. What others have is theirs to know."""
        return self.remaining_of(self._grant(actor), actor)

    @_in_public_words()
    def remaining_of(self, grant: Grant, actor: str) -> str | None:
        """What is left of the cap that was granted to an analyst, in words; None where there is none."""
        cap = None if grant.budget is None else self._ledger.cap(self.name, analyst=actor)
        return None if cap is None else cap.remaining

    @_in_public_words()
    def columns(self, actor: str) -> dict[str, str]:
        """The names and types of the columns that an analyst may name."""
        return self._session(actor, "")[0].columns

    def _left_after(self, cap: AccountReader, actor: str, cost: PrivacyCost, loss: Fraction) -> LeftAfter:
        """What a question leaves of an analyst's own cap. Of what others have left nothing is said but that it does not fit."""
        own = left_after(cap, cost, loss)
        if not own.fits or self._account.acting_for(actor).fits(cost, loss):
            return own
        return LeftAfter(False, cap.remaining, 0, shared=True)

    def _largest_epsilon(self, actor: str) -> Fraction:
        """Up to where a curve goes; a cap of which little is left does not shorten it to nothing."""
        cap, allowed = self.own_cap(actor), self.policy.largest_epsilon or LARGEST_PLANNED
        left = allowed if cap is None else cap.largest_epsilon
        return min(left, allowed) if left > LEAST_EPSILON else allowed

    def _planned_alone(self, document: object, actor: str) -> PlannedRequest:
        """What a plan at one epsilon is about, for somebody who may ask it."""
        plan = _read_plan(document)
        if len(plan.epsilons) > 1:
            raise InvalidParameterError("a plan takes one epsilon: ask for a curve of several.")
        return self._planned(plan, actor, searches=plan.wanted is not None)

    def _planned(
        self, plan: PlanDocument, actor: str, epsilon: Fraction | None = None, *, searches: bool = False
    ) -> PlannedRequest:
        """What a plan is about, for somebody who may ask it, at an epsilon that may be asked where it is not searched for."""
        session, policy = self._session(actor, "")
        asked = planned_request(session, plan, epsilon)
        check_request(asked.request)
        names = (plan.question.statistic, asked.request.question.statistic.name)
        policy.check(names, Fraction(0) if searches else asked.request.cost.epsilon)
        return asked

    @_in_public_words()
    def check_access(self, actor: str) -> None:
        """Raise unless something is granted to somebody."""
        self._grant(actor)

    @_in_public_words()
    def own_cap(self, actor: str) -> AccountReader | None:
        """The account of an analyst's own cap; None where there is none."""
        grant = self._grant(actor)
        return None if grant.budget is None else self._ledger.cap(self.name, analyst=actor)

    @property
    def protection(self) -> Protection:
        """Whom the data set protects; public."""
        return self._desk.protection

    @cached_property
    @_in_public_words()
    def rows_per_unit(self) -> Release[UnitOctaves] | None:
        """The release that says how many rows of each unit are used, where they were found privately; public like the number."""
        return rows_found_on(self._account)

    @_in_public_words()
    def keys(self, actor: str) -> dict[str, list[Any]]:
        """The values of columns that an analyst may name, where these are public."""
        columns = self.columns(actor)
        return {name: list(values) for name, values in self._desk.public_keys.items() if name in columns}

    @_in_public_words()
    def line(self, actor: str, debit: int) -> StatementLine | None:
        """What an analyst has asked and paid for with one debit, by its number; None where that is nobody's, or another's."""
        return next((each for each in self.history(actor, after=debit - 1, limit=1) if each.sequence == debit), None)

    @_in_public_words()
    def receipt(self, debit: int) -> dict[str, Any]:
        """What whoever paid keeps of a debit: names and hashes, which are public, signed if the ledger is."""
        return self._account.receipt(debit).to_dict()

    def _priced(self, session: Session, policy: Policy, documents: Sequence[object]) -> PricedBatch:
        if isinstance(documents, (str, Mapping)) or not 1 <= len(documents) <= MOST_QUESTIONS:
            raise InvalidParameterError(f"a basket is a list of 1 to {MOST_QUESTIONS} questions.")
        read = []
        for number, document in enumerate(documents, 1):
            with named(f"question {number}"):
                read.append(_read(document))
        batch = price_batch(session, read)
        for document, each in zip(batch.documents, batch.priced, strict=True):
            _check(document, each.request, policy)
        return batch

    def _session(self, actor: str, request: str) -> tuple[Session, Policy]:
        """The data set as one analyst may see it, and the policy, both of one moment."""
        return self._session_by(self._account.rights(actor), actor, request)

    def _session_by(self, rights: Rights, actor: str, request: str) -> tuple[Session, Policy]:
        """The data set as an analyst with some rights may see it, and the policy."""
        if rights.grant is None:
            raise no_access(self.name)
        policy = policy_of(rights.policy)
        acting = {"account": self._account.acting_for(actor, request), "audience": _audience(policy, rights.grant, actor)}
        desk = PolicedDesk(**{**vars(self._desk), **acting}, policy=policy, pool=self._pool, table=self._recipe)
        return Session(desk, policy.scope(Scope(desk.schema, TableView(desk.schema)))), policy

    def _for(self, actor: str, answer: T) -> T:
        """An answer, for somebody who may still have it; what was paid for stays in the archive all the same."""
        self._grant(actor)
        return answer

    def _grant(self, actor: str) -> Grant:
        grant = self._account.granted(actor)
        if grant is None:
            raise no_access(self.name)
        return grant

    def _allowed_keys(self, table: EntryTable, actor: str, keys: Keys) -> Keys:
        """The keys of a question, for somebody who may ask now."""
        if self._account.rights_in(table, actor).grant is None:
            raise no_access(self.name)
        return keys

    def _elsewhere(self, document: dict[str, Any], request: Request, actor: str, policy: Policy, departure: Departure) -> Compute:
        """Computes an answer in another process, in a slot of the asker's; whatever becomes of it, it leaves at a public time."""
        job, statistic, seconds = (
            PaidJob(self._recipe, document),
            request.question.statistic,
            seconds_of(policy, request),
        )

        def compute() -> Result:
            with self._slots.held(actor) as waited:
                departure.work_begins(seconds, waited=waited)
                begun = time.monotonic()
                return leaving_at(
                    begun + archived_after(seconds),
                    lambda: result_of(self._pool.run(job, begun + ready_after(seconds)), statistic),
                )

        return compute


def _priced_alone(session: Session, policy: Policy, asked: QuestionDocument) -> Priced:
    """A question, priced and allowed by a policy; it is not asked."""
    priced = session._price_document(asked)
    _check(asked, priced.request, policy)
    return priced


def _audience(policy: Policy, grant: Grant, actor: str) -> str:
    """Who shares the archive's answers with somebody; empty where everybody does."""
    audience = {OWN: f"analyst {actor}", BY_GROUP: f"group {grant.group}" if grant.group else f"analyst {actor}"}
    return audience.get(policy.archive, "")


def _check(document: QuestionDocument, request: Request, policy: Policy) -> None:
    check_request(request)
    policy.check((document.statistic, request.question.statistic.name), request.cost.epsilon)


def _read(document: object) -> QuestionDocument:
    check_document(document)
    return read_document(document)


def _read_plan(document: object, usual_points: int = 1) -> PlanDocument:
    """A plan, or a curve of so many points where it lists no epsilons."""
    check_document(document)
    plan = read_plan(document)
    check_plan_lines(len(plan.sizes), len(checked_shapes(plan.words.get("shape"))), len(plan.epsilons) or usual_points)
    return plan
