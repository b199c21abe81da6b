"""What somebody may spend on a data set, in their own words: never what others have."""

from __future__ import annotations

from fractions import Fraction

from dpstats.curator.ledger.ledger import Ledger
from dpstats.curator.ledger.readers import AccountReader
from dpstats.curator.remaining import Remaining
from dpstats.foundations.privacy import PrivacyCost
from dpstats.foundations.rounding import decimal_text
from dpstats.foundations.text_tables import counted
from dpstats.web.routes import Plain

USUAL, USUAL_EPSILON = "median", Fraction(1, 5)
"""The question in which what is left is counted."""


def cap_values(ledger: Ledger, dataset: str, actor: str) -> Plain | None:
    """How somebody's own cap on a data set stands; None where nothing is granted."""
    account = ledger.reader(dataset)
    grant = account.granted(actor)
    if grant is None:
        return None
    cap = None if grant.budget is None else ledger.cap(dataset, analyst=actor)
    terms, policy = account.opened_with.terms, account.policy
    said = {"name": dataset, "unit": terms.unit, "frozen": bool(policy.get("frozen", False))}
    if cap is None:
        return {**said, "cap": None, "spent": None, "left": None, "share": None, "more": None}
    now = cap.standing
    limit = now.limit.loss
    return {
        **said,
        "cap": str(now.budget),
        "spent": amount_words(now.spent),
        "left": now.remaining,
        "share": float(min(now.total.loss / limit, Fraction(1))) if limit else 1.0,
        "more": more_words(cap),
    }


def more_words(cap: AccountReader, epsilon: Fraction = USUAL_EPSILON) -> str:
    """For how many usual questions a cap is enough."""
    count = Remaining(cap).more(USUAL, epsilon=epsilon)
    if not count:
        return f"too little for a {USUAL} at {decimal_text(epsilon)}"
    return f"about {counted(count, f'more {USUAL}')} at {decimal_text(epsilon)}"


def amount_words(cost: PrivacyCost) -> str:
    """An amount that may be nothing."""
    delta = f", delta = {decimal_text(cost.delta)}" if cost.delta else ""
    return f"epsilon = {decimal_text(cost.epsilon)}{delta}"
