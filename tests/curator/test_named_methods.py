"""Whoever names a method and gives what its statistic requires is told what is missing before the debit, or gets a reply."""

from __future__ import annotations

import dpstats as dp
from dpstats.foundations.registry import COULD_NOT
from tests.golden.tables import SETTINGS, calls, session, table

ROWS = 300


def test_no_method_costs_anything_for_a_parameter_that_it_lacks() -> None:
    survey = session(SETTINGS["person"], {name: column[:ROWS] for name, column in table().items()})
    asked = failed = 0
    for call in calls(only_required=True):
        try:
            reply = getattr(survey, call.statistic)(*call.given, **call.words)
        except dp.DpstatsError:
            continue
        asked += 1
        failed += isinstance(reply, dp.NoReply) and reply.reason == COULD_NOT.reason
    assert (asked > 100, failed) == (True, 0)
