"""Plans of documents: a question about a protected table is priced, and planned in place of being asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from dpstats.curator.desk import Request
from dpstats.curator.documents.asking import narrowed_scope
from dpstats.curator.documents.plan_documents import PlanDocument
from dpstats.curator.planning.curves import EpsilonCurve, stored_curve
from dpstats.curator.planning.forecasts import Plan
from dpstats.curator.planning.plan import plan_priced, row_price
from dpstats.curator.planning.planned_questions import PlannedQuestion, stored_rows
from dpstats.curator.planning.searches import AsRow
from dpstats.curator.planning.shapes import checked_shapes, usual_shapes
from dpstats.curator.session import Session
from dpstats.foundations.errors import InvalidParameterError


@dataclass(frozen=True)
class PlannedRequest:
    """What a plan is about: the priced question, and what it is for a row."""

    plan: PlanDocument
    request: Request
    as_row: AsRow

    def simulated(self) -> Plan:
        """The plan; what is not in the stored tables is simulated, which may take long."""
        words = {name: self.plan.words.get(name) for name in ("shape", "repeats")}
        return plan_priced(
            self.request.question,
            self.request.text,
            as_row=self.as_row,
            wanted=self.plan.wanted,
            n=self.plan.sizes,
            **words,
        )

    def stored(self) -> Plan | None:
        """The plan from the stored tables alone; None where they do not have it.

        Where the asker has named no sizes, those that they have are enough.
        """
        if "repeats" in self.plan.words:  # which asks for a simulation
            return None
        planned, wanted = self._planned(self.plan.sizes), self.plan.wanted
        rows = stored_rows(planned, wanted)
        if None in rows and not self.plan.names_sizes:
            lines = len(planned.shapes)
            parts = [rows[place : place + lines] for place in range(0, len(rows), lines)]
            rows = [row for part in parts if None not in part for row in part]
        known = [row for row in rows if row is not None]
        if not known or len(known) < len(rows):
            return None
        text = self.request.text
        if wanted is None:
            text += row_price(self.request.question, self.as_row)
        return planned.plan(known, "" if wanted is None else wanted.text(planned.scale), text)

    def curve(self, epsilons: Sequence[Fraction]) -> EpsilonCurve | None:
        """The half-width over these epsilons, from the stored tables; None where they do not have the question."""
        return stored_curve(self._planned(self.plan.sizes), self.request.text, epsilons)

    def _planned(self, sizes: Sequence[int]) -> PlannedQuestion:
        shapes = checked_shapes(self.plan.words.get("shape"), usual_shapes(self.request.question))
        return PlannedQuestion(self.request.question, sizes, shapes, self.as_row, seed=0, from_tables=True)


def planned_request(session: Session, plan: PlanDocument, epsilon: Fraction | None = None) -> PlannedRequest:
    """What a document would ask, at its epsilon or at another one; every complaint about it is raised here."""
    document = plan.question.at(epsilon or max(plan.epsilons, default=plan.question.epsilon))
    request = session._price_document(document).request
    if "formula" in request.scope or ("by" in request.scope and request.scope["keys"] is None):
        raise InvalidParameterError(
            "a question whose groups or levels are chosen privately cannot be planned: list them (keys, levels), and n is about "
            "how many rows one group has."
        )
    grouped = "by" in request.scope
    narrowed = narrowed_scope(session._scope, document).is_narrowed or grouped
    as_row = partial(session._table.protection.row_question, narrowed=narrowed, grouped=grouped)
    return PlannedRequest(plan, request, as_row)
