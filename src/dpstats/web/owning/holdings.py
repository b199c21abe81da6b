"""How a data set stands, for its owner: what is spent and left, by whom, and since when."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

from dpstats.curator.catalog.policy import Policy
from dpstats.curator.ledger.entries import AMEND, EDITION, OPEN, Entry
from dpstats.curator.ledger.readers import AccountReader
from dpstats.curator.ledger.standing import BUDGET, amended, total_after
from dpstats.foundations.rounding import decimal_text
from dpstats.web.asking.caps import amount_words
from dpstats.web.figures.burn_down import SERIES
from dpstats.web.routes import Plain

MOST_POINTS = 300
"""Of a figure; of more questions some are left out, never the last."""
OTHERS = "all others"
NOBODY = "the owner's program"
PACE_DAYS = 30
_DAY = timedelta(days=1)


def standing_values(reader: AccountReader) -> Plain:
    """The budget of an account, and what is spent and left of it."""
    now = reader.standing
    limit = now.limit.loss
    return {
        "budget": str(now.budget),
        "epsilon": str(now.budget.epsilon),
        "delta": str(now.budget.delta),
        "accountant": now.budget.accountant,
        "closed": now.closed,
        "spent": amount_words(now.spent),
        "left": reader.remaining,
        "share": float(min(now.total.loss / limit, Fraction(1))) if limit else 1.0,
    }


def policy_values(policy: Policy) -> Plain:
    """A policy as plain values, with what it says in sentences."""
    columns = "all columns" if policy.columns is None else ", ".join(policy.columns) or "no column"
    statistics = "every statistic" if policy.statistics is None else ", ".join(policy.statistics) or "no statistic"
    largest = "no limit for one question" if policy.largest_epsilon is None else decimal_text(policy.largest_epsilon)
    archive = {
        "shared": "an identical question is answered once, and then free for everybody who may ask",
        "group": "an identical question is free within the group of whoever has paid for it",
        "own": "an identical question is free for whoever has paid for it, and nobody else",
    }[policy.archive]
    words = [
        ["columns that may be named", columns],
        ["statistics that may be asked", statistics],
        ["largest epsilon of one question", largest],
        ["archive", archive],
        ["rows, as declared", f"about {policy.rows:,}"],
        ["pace of replies", "usual" if policy.pace == 1 else f"{decimal_text(policy.pace)} times the usual time"],
        ["frozen", "yes: nothing new is answered" if policy.frozen else "no"],
    ]
    return {**policy.to_dict(), "words": words}


def edition_values(reader: AccountReader) -> list[Plain]:
    """The states of the rows, the newest first."""
    found = reader.entries(kinds=[EDITION])
    return [{"sequence": each.sequence, "time": each.time, "label": str(each.content().get("label", ""))} for each in found][::-1]


def burn_down_values(reader: AccountReader, debits: Sequence[Entry]) -> Plain:
    """What was spent over time and by whom, in the accountant's own amount, which adds up; `debits` are all of the account's."""
    keeper = reader.accountant
    caps = _caps(reader)
    by: dict[str, Plain] = {}
    steps: list[tuple[str, str, float]] = []
    before = Fraction(0)
    for debit in debits:
        total = total_after(debit, keeper).loss
        charge, before = float(total - before), total
        name = debit.actor or NOBODY
        line = by.setdefault(name, {"name": name, "questions": 0, "spent": 0.0, "last": debit.time})
        line.update(questions=line["questions"] + 1, spent=line["spent"] + charge, last=debit.time)
        steps.append((debit.time, name, charge))
    ordered = sorted(by.values(), key=lambda line: -line["spent"])
    shown = [line["name"] for line in ordered[: SERIES - 1 if len(ordered) > SERIES else SERIES]]
    people = [*shown, *([OTHERS] if len(ordered) > len(shown) else [])]
    whole = float(reader.standing.limit.loss)
    return {
        "unit": keeper.loss_name,
        "people": people,
        "points": _points(steps, people),
        "caps": caps,
        "begin": caps[0]["time"],
        "end": _now(),
        "spent": float(before),
        "spent_words": keeper.words(total_after(debits[-1] if debits else None, keeper)),
        "budget_words": str(reader.budget),
        "table": [{**line, "share": line["spent"] / whole if whole else 1.0} for line in ordered],
        "forecast": _forecast(steps, caps[0]["time"], whole - float(before)),
    }


def _points(steps: list[tuple[str, str, float]], people: list[str]) -> list[Plain]:
    """What each had spent by then, after each question."""
    spent = dict.fromkeys(people, 0.0)
    every = -(-len(steps) // MOST_POINTS) or 1
    points = []
    for number, (time, name, charge) in enumerate(steps, 1):
        spent[name if name in spent else OTHERS] += charge
        if number % every == 0 or number == len(steps):
            points.append({"time": time, "spent": list(spent.values())})
    return points


def _caps(reader: AccountReader) -> list[Plain]:
    """The budget from the opening on, and each other one from its amendment on."""
    opened = reader.opened_with.terms.budget
    found: list[Plain] = []
    for entry in reader.entries(kinds=[OPEN, AMEND]):
        if entry.kind == OPEN:
            found.append({"time": entry.time, "limit": float(opened.limit.loss)})
        elif entry.key == BUDGET:
            budget = amended(opened, entry.content())
            found.append({"time": entry.time, "limit": 0.0 if budget is None else float(budget.limit.loss)})
    return found


def _forecast(steps: list[tuple[str, str, float]], opened: str, left: float) -> str | None:
    """Until when the budget lasts at its recent pace; None where that is too short to tell."""
    now = datetime.now(UTC)
    days = min((now - datetime.fromisoformat(opened)) / _DAY, PACE_DAYS)
    since = (now - timedelta(days=PACE_DAYS)).isoformat()
    spent = sum(charge for time, _, charge in steps if time >= since[: len(time)])
    if days < 1 or left <= 0 or spent <= 0:
        return None
    lasts = left * days / spent
    if lasts > 3650:
        return "At the pace of the last 30 days, it lasts for more than ten years."
    ends = now + timedelta(days=lasts)
    return f"At the pace of the last {days:.0f} days, it lasts until about {ends.day} {ends:%B %Y}."


def change_values(entries: list[Entry]) -> list[Plain]:
    """Changes of what is allowed: who, when, why, and what in short."""
    return [
        {"sequence": each.sequence, "time": each.time, "actor": each.actor, "what": _what(each), "why": each.content()["why"]}
        for each in entries
    ]


def _what(entry: Entry) -> str:
    content: dict[str, Any] = entry.content()
    if entry.kind == AMEND:
        if entry.key != BUDGET:
            return "policy" + (", frozen" if content["policy"].get("frozen") else "")
        return "budget closed" if content["budget"] is None else f"budget {decimal_text(Fraction(content['budget']['epsilon']))}"
    budget = content.get("budget")
    cap = f", cap {decimal_text(Fraction(budget['epsilon']))}" if budget else ""
    return f"{entry.kind} {entry.key}{cap}"


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
