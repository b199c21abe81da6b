"""Prices as plain values: what a question costs, and what it would leave of the asker's own cap."""

from __future__ import annotations

from dpstats.curator.catalog.quotes import BasketQuote, Quote
from dpstats.curator.remaining import LeftAfter
from dpstats.foundations.privacy import PrivacyCost
from dpstats.web.routes import Plain


def quote_values(quote: Quote) -> Plain:
    """The price of one question."""
    about = {"question": quote.question, "method": quote.method, "claim": quote.claim}
    return {**about, **_price(quote.cost, quote.seconds, quote.own)}


def basket_values(quote: BasketQuote) -> Plain:
    """The price of several questions, each by itself and all together."""
    each = [{"question": one.question, "cost": cost_values(one.cost), "seconds": one.seconds} for one in quote.questions]
    return {"questions": each, **_price(quote.cost, quote.seconds, quote.own)}


def cost_values(cost: PrivacyCost) -> Plain:
    """A cost as exact texts, and in words."""
    return {"epsilon": str(cost.epsilon), "delta": str(cost.delta), "words": str(cost)}


def _price(cost: PrivacyCost, seconds: float, own: LeftAfter | None) -> Plain:
    return {
        "cost": cost_values(cost),
        "words": f"spends {cost}" if own is None else f"spends {cost}, {own}" if own.fits else f"costs {cost}: {own}",
        "seconds": seconds,
        "fits": None if own is None else own.fits,
        "leaves": None if own is None else own.leaves,
        "more": None if own is None else own.more,
    }
