"""The planner of a service: plans from the stored tables at once, others in processes of their own, never behind paid work."""

from __future__ import annotations

import time

from dpstats.curator.catalog.ceilings import PLAN_SECONDS, check_plan_work
from dpstats.curator.jobs.job_process import PlanJob
from dpstats.curator.jobs.pool import JobFailedError, JobPool
from dpstats.curator.jobs.slots import Slots
from dpstats.curator.planned_documents import PlannedRequest
from dpstats.curator.planning.forecasts import Plan
from dpstats.curator.planning.plan import checked_repeats
from dpstats.curator.planning.shapes import checked_shapes
from dpstats.curator.planning.stored_tables import FEW_NATS, stored_tables
from dpstats.foundations.errors import InvalidParameterError

_AT_HOME = "or plan on your own computer, with dpstats.plan: it needs no data"


class Planner:
    """Makes the plans of a catalog; without a pool, from the stored tables alone."""

    def __init__(self, pool: JobPool | None = None) -> None:
        self._pool = pool
        self._slots = Slots(1)

    def plan(self, asked: PlannedRequest, table: str, actor: str) -> Plan:
        """The plan that is asked for; `table` is the recipe by which workers price the same question."""
        known = asked.stored()
        if known is not None:
            return known
        if self._pool is None:
            raise not_stored()
        plan, question = asked.plan, asked.request.question
        shapes = 1 if question.statistic.simulate is not None else len(checked_shapes(plan.words.get("shape")))
        tables = checked_repeats([question], plan.wanted, plan.words.get("repeats"))
        check_plan_work(plan.sizes, shapes, tables, searches=plan.wanted is not None)
        job = PlanJob(table, plan.to_dict())
        until = time.monotonic() + PLAN_SECONDS
        try:
            with self._slots.held(actor):
                reply = self._pool.run(job, until)
        except JobFailedError:
            raise InvalidParameterError(
                f"this plan could not be simulated within {PLAN_SECONDS:g} s: name one size with n, one shape, or fewer repeats; "
                f"{_AT_HOME}."
            ) from None
        if "refused" in reply:  # a plan reads nothing, so its complaints are public
            raise InvalidParameterError(reply["refused"])
        return Plan.from_dict(reply)


def not_stored() -> InvalidParameterError:
    """What is said of a plan that would have to be simulated where nothing is."""
    return InvalidParameterError(
        f"this plan is not in the stored tables, and nothing is simulated here. They have {', '.join(stored_tables())}, with "
        "intervals of level 0.95, on the shapes normal, lognormal, heavy_tailed and delays, where n times epsilon is "
        f"well above {FEW_NATS}: name a larger n or epsilon, {_AT_HOME}."
    )
