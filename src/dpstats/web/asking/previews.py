"""Previews: what a sentence would cost and what to expect of its answer, before anything is asked or read."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpstats.curator.catalog.service_desk import ServiceDesk
from dpstats.foundations.errors import DpstatsError, InvalidParameterError
from dpstats.foundations.rounding import decimal_text
from dpstats.foundations.text_tables import counted
from dpstats.web.asking.expectations import Expectation, rounded_up
from dpstats.web.asking.prices import quote_values
from dpstats.web.asking.sentences import Sentence
from dpstats.web.asking.visits import read_asked
from dpstats.web.figures.expected_width import data, expected_width
from dpstats.web.figures.scales import number_text
from dpstats.web.routes import Plain, Visit

_DIGITS = 3


@dataclass
class Preview:
    """What is known of a sentence; each part of it may be missing."""

    document: Plain | None = None
    price: Plain | None = None
    expect: Expectation | None = None
    unplanned: str | None = None
    """Why nothing is known of what to expect."""
    complaint: str | None = None

    def to_dict(self) -> Plain:
        """Plain values for a page."""
        return {
            "document": self.document,
            "price": self.price,
            "complaint": self.complaint,
            "unplanned": self.unplanned,
            "expect": None if self.expect is None else self.expect.to_dict(),
            **self._drawn(),
        }

    def _drawn(self) -> Plain:
        """The curve with a cross at the document's epsilon, and the same in words."""
        if self.expect is None:
            return {"figure": None, "slider": None, "here": None, "without": None, "floor": None, "is_few": False}
        expect = self.expect
        epsilon = expect.most if self.document is None else float(Fraction(self.document["epsilon"]))
        here = expect.at(epsilon)
        said: Plain | None = None
        sign = expect.unit[:1]
        if here is not None:
            ends = {name: width_text(getattr(here, name), sign) for name in ("low", "high")}
            said = {"middle": width_text(here.middle, expect.unit), **ends}
        words = f"The half-width to expect by epsilon, with {counted(expect.n, 'row')}"
        return {
            "figure": expected_width(expect, epsilon, words if said is None else f"{words}: {said['middle']} at {epsilon:g}."),
            "slider": data(expect),
            "here": said,
            "without": None if expect.without_privacy is None else width_text(expect.without_privacy, sign),
            "floor": number_text(expect.floor, _DIGITS),
            "is_few": epsilon < expect.floor,
        }


def preview(visit: Visit, desk: ServiceDesk, sentence: Sentence, n: int, width: str) -> Preview:
    """What a sentence would cost, and what to expect of it with n rows; `width` is a half-width that is wanted, or empty."""
    found = Preview()
    try:
        document = sentence.as_document()
        if not width:
            document = read_asked(visit, document).to_dict()
        found.expect, found.unplanned = _curve(desk, visit.name, document, n)
        if width:
            document = read_asked(visit, {**document, "epsilon": _epsilon_for(found.expect, width)}).to_dict()
        archived = desk.recall(document, visit.name) is not None
        found.price = {**quote_values(desk.price(document, visit.name)), "archived": archived}
        found.document = document
    except DpstatsError as error:
        found.complaint = str(error)
    return found


def width_text(width: float, unit: str) -> str:
    """A half-width for people."""
    return f"{number_text(width, _DIGITS)}{unit}"


def _curve(desk: ServiceDesk, actor: str, document: Plain, n: int) -> tuple[Expectation | None, str | None]:
    """What to expect over all epsilons, or why that is not known."""
    planned = {name: each for name, each in document.items() if name != "epsilon"}
    try:
        found = Expectation.of(desk.curve({**planned, "plan": {"n": n}}, actor), n)
    except DpstatsError as error:
        return None, str(error)
    return found, None if found is not None else f"{counted(n, 'row')} {'is' if n == 1 else 'are'} too few for it."


def _epsilon_for(expect: Expectation | None, width: str) -> str:
    """The epsilon that a wanted half-width takes."""
    if expect is None:
        raise InvalidParameterError("this question cannot be planned, so the epsilon of an error is not known: give epsilon.")
    try:
        wanted = float(width.strip().removesuffix("%"))
    except ValueError:
        raise InvalidParameterError("the wanted error must be a number, such as 2.5.") from None
    epsilon = expect.epsilon_for(wanted) if wanted > 0 else None
    if epsilon is None:
        raise InvalidParameterError(
            f"an error of {number_text(wanted, _DIGITS)} cannot be reached with {counted(expect.n, 'row')} and what may be spent."
        )
    return decimal_text(min(rounded_up(epsilon), Fraction(str(expect.most))))
