"""Who may ask about a data set, with which caps, and how the caps add up against the budget."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from dpstats.accounting.budgets import Budget
from dpstats.curator.ledger.entries import GRANT, REVOKE, Entry
from dpstats.curator.ledger.grants import Grant
from dpstats.curator.ledger.ledger import Ledger
from dpstats.curator.ledger.openings import GROUP
from dpstats.foundations.rounding import decimal_text
from dpstats.web.owning.holdings import standing_values
from dpstats.web.routes import Plain


def grant_values(ledger: Ledger, dataset: str) -> list[Plain]:
    """Analysts and groups that were granted something which was not taken back, groups first."""
    reader = ledger.reader(dataset)
    last: dict[str, Entry] = {}
    for entry in reader.entries(kinds=[GRANT, REVOKE]):
        last[entry.key] = entry
    lines = []
    for key, entry in last.items():
        if entry.kind == GRANT:
            kind, _, holder = key.partition(" ")
            grant = Grant.from_entry(entry, reader.opened_with.terms.budget.accountant)
            named = {"group": holder} if kind == GROUP else {"analyst": holder}
            cap = None if grant.budget is None else ledger.cap(dataset, **named)
            lines.append(
                {
                    "kind": kind,
                    "holder": holder,
                    "group": grant.group,
                    "cap": None if cap is None else standing_values(cap),
                    "since": entry.time,
                    "by": entry.actor,
                    "why": str(entry.content()["why"]),
                }
            )
    return sorted(lines, key=lambda line: (line["kind"] != GROUP, line["holder"]))


def oversubscription(budget: Budget, caps: Iterable[tuple[str, str, str | None, Budget | None]]) -> Plain:
    """All caps against the budget. Each is (kind, holder, group of an analyst, cap); a group's cap counts for those in it."""
    listed = list(caps)
    capped_groups = {holder for kind, holder, _, cap in listed if kind == GROUP and cap is not None}
    paying = [cap for kind, _, group, cap in listed if not (kind != GROUP and group in capped_groups)]
    without = [cap for (kind, _, group, cap) in listed if cap is None and kind != GROUP and group not in capped_groups]
    total = sum((cap.limit.loss for cap in paying if cap is not None), Fraction(0))
    times = total / budget.limit.loss
    if without:
        words = "Somebody has no cap of their own, and may spend all that is left."
    elif times > 1:
        words = (
            f"Oversubscribed {decimal_text(_tenths(times))}x: all caps together are more than the budget, so the last to ask may "
            "find nothing left. The budget itself always holds."
        )
    else:
        words = f"All caps together are {float(100 * times):.0f}% of the budget: everybody can spend theirs."
    return {"times": float(times), "without_cap": len(without), "words": words}


def _tenths(times: Fraction) -> Fraction:
    return Fraction(round(times * 10), 10)


def listed_caps(lines: Iterable[Plain], accountant: str) -> list[tuple[str, str, str | None, Budget | None]]:
    """The lines of `grant_values` as `oversubscription` takes them."""
    return [
        (
            line["kind"],
            line["holder"],
            line["group"],
            None if line["cap"] is None else Budget(line["cap"]["epsilon"], line["cap"]["delta"], accountant),
        )
        for line in lines
    ]
