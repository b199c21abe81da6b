"""Documents about a release: its card, its citation, and its entry for the registry of deployments of differential privacy."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dpstats.accounting.accountants import Total
from dpstats.curator.archive import Result
from dpstats.curator.catalog.drafts import protection_of_words
from dpstats.curator.catalog.registrations import Registration
from dpstats.curator.ledger.ledger import Ledger
from dpstats.curator.ledger.standing import Standing, total_after
from dpstats.curator.protection import Protection
from dpstats.curator.publishing.cards import RANDOMNESS, PublicFacts, card_lines, guarantee
from dpstats.foundations.grouped import GroupedRelease
from dpstats.foundations.results import NoReply, value_text
from dpstats.foundations.rounding import decimal_text
from dpstats.foundations.version import __version__
from dpstats.web.published.reading import PublishedAnswer
from dpstats.web.routes import Plain
from dpstats.web.words import day

SIDE_CHANNELS = (
    "A reply leaves at a time that is public beforehand, whatever the rows are and however long computing took. What goes wrong "
    "because of a row is one fixed sentence, at full cost."
)
ACCESS = "Whoever runs this service; no row, and nothing that was not randomised, is on its pages or in the ledger."
_OURS = {"Are there side channels?": SIDE_CHANNELS, "Who can reach the rows?": ACCESS}
"""Questions of the card that a service answers otherwise than a folder of files."""
_TEX = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def protection_of(registration: Registration) -> Protection:
    """Whom a data set protects."""
    return protection_of_words(registration.protection)


def cards(ledger: Ledger, registration: Registration, published: PublishedAnswer) -> list[list[tuple[str, str]]]:
    """The card of each answer, heading by heading, in the order of NIST SP 800-226."""
    facts = _facts(ledger, registration, published)
    every = [card_lines(each, facts, published.cost) for each in published.results]
    return [[(head, _OURS.get(head, text)) for head, text in card] for card in every]


def citation(published: PublishedAnswer, registration: Registration, address: str) -> str:
    """A release in BibTeX."""
    entry, cost = published.entry, published.cost
    note = f"Differentially private: {cost} for each {cost.unit}. Ledger entry {entry.sequence}, SHA-256 {entry.hash}"
    fields = {
        "title": f"{{{_tex(published.title)}}}",
        "author": f"{{{_tex(registration.owner)}}}",
        "year": entry.time[:4],
        "howpublished": f"\\url{{{address}}}",
        "note": _tex(note),
    }
    name = re.sub(r"[^a-z0-9]+", "-", registration.name.lower()).strip("-") or "release"
    listed = "".join(f"  {field} = {{{text}}},\n" for field, text in fields.items())
    return f"@misc{{{name}-{entry.sequence},\n{listed}}}\n"


def registry_entry(ledger: Ledger, registration: Registration, published: PublishedAnswer, address: str) -> Plain:
    """A release in the fields of the registry: flavour, unit, epsilon, model, accounting, implementation."""
    cost, standing = published.cost, ledger.reader(published.dataset).standing
    methods = list(dict.fromkeys(method for each in published.results for method in _methods(each)))
    return {
        "name": published.title,
        "data_curator": registration.owner,
        "data_set": registration.name,
        "published": published.entry.time,
        "url": address,
        "flavour": "approximate differential privacy" if cost.delta else "pure differential privacy",
        "neighbours": cost.neighbors.describe(cost.unit),
        "unit": cost.unit,
        "epsilon": decimal_text(cost.epsilon),
        "delta": decimal_text(cost.delta),
        "guarantee": guarantee(cost),
        "model": "central: a trusted curator answers questions, and publishes some of the answers",
        "accounting": {
            "accountant": standing.budget.accountant,
            "all_answers_up_to_this_one": _total(published, standing),
            "budget": str(standing.budget),
        },
        "implementation": {"software": f"dpstats {__version__}", "methods": methods, "randomness": RANDOMNESS},
    }


def _facts(ledger: Ledger, registration: Registration, published: PublishedAnswer) -> PublicFacts:
    protection, standing, debit = protection_of(registration), ledger.reader(published.dataset).standing, published.debit
    return PublicFacts(
        protects=protection.describe(),
        max_rows_per_unit=None if protection.is_by_row else protection.rows_per_unit,
        declared="; ".join(declared(registration.keys)),
        budget=str(standing.budget),
        accountant=standing.budget.accountant,
        version=__version__,
        entries=(
            f"entry {debit.sequence} paid for it",
            f"entry {published.answer.sequence} is the answer",
            f"entry {published.number} published it on {day(published.entry.time)}",
        ),
        total=_total(published, standing),
    )


def declared(keys: Mapping[str, object]) -> list[str]:
    """Values of columns that the owner has made public, in words."""
    return [f"{value_text(name)} is one of {value_text(values)}" for name, values in keys.items()]


def _total(published: PublishedAnswer, standing: Standing) -> str:
    total: Total = total_after(published.debit, standing.accountant)
    return standing.accountant.words(total)


def _methods(answer: Result) -> list[str]:
    replies = answer.values() if isinstance(answer, GroupedRelease) else [answer]
    return [reply.method if isinstance(reply, NoReply) else f"{reply.method}: {reply.claim}" for reply in replies]


def _tex(text: str) -> str:
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    return "".join(_TEX.get(letter, letter) for letter in plain)
