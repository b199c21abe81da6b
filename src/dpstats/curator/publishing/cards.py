"""Cards of published answers: what NIST SP 800-226 has readers ask of a claim of differential privacy, answered one by one.

They follow its pyramid from the top: how strong the promise is and whom it is made to, which mechanism keeps it and how good the
answer is, whom one has to trust with the rest, down to how the data were collected. Everything was public before, or released.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dpstats.curator.archive import Result
from dpstats.foundations.grouped import GroupedRelease
from dpstats.foundations.privacy import Neighbors, PrivacyCost
from dpstats.foundations.results import NOT_PRIVATE, NoReply, Release, claim_text
from dpstats.foundations.rounding import decimal_text
from dpstats.foundations.text_tables import counted

RANDOMNESS = "from the operating system's cryptographic source; drawn in whole numbers and exact fractions, never in floats"
TRUST = (
    "Central: whoever holds the table computes the answers and is trusted with the rows. Readers are not trusted: they may know "
    "all other rows, and whatever else there is to know, and may work together."
)
BIAS = (
    "Noise is as large for few rows as for many, so that small groups are further off in proportion, and may get no reply. What "
    "the table itself has wrong, or whom it leaves out, is wrong here, too."
)
SIDE_CHANNELS = (
    "How long computing took is not hidden, and must not be shown to readers. What goes wrong because of a row is one fixed "
    "sentence, at full cost."
)
ACCESS = "Whoever the holder of the table lets; no row, and nothing that was not randomised, is in these files or in the ledger."
COLLECTION = "By the holder of the table; the guarantee begins with the table, and says nothing of how it came about."
_USED = ("public", "numerics", "reliable from", "archive")
"""Notes of a release that have their place on the card."""

Lines = list[tuple[str, str]]


@dataclass(frozen=True)
class PublicFacts:
    """What all answers of a publication share."""

    protects: str
    """Whom, in words."""
    max_rows_per_unit: int | None
    """How many rows of a unit are used at most; None where every row is a unit."""
    declared: str
    """Labels and types that the holder of the table declared, in words."""
    budget: str
    accountant: str
    version: str
    entries: tuple[str, ...]
    """Of the ledger, in words."""
    total: str
    """What the table has spent in all, this publication included."""


def guarantee(cost: PrivacyCost) -> str:
    """What a cost means, in a sentence."""
    factor = math.exp(min(float(cost.epsilon), 700.0))
    if factor < 1e3:
        shown = f"{math.ceil(factor * 100) / 100:,.2f}"
    else:
        shown = f"{math.ceil(factor):,}" if factor < 1e9 else f"10^{math.ceil(float(cost.epsilon) / math.log(10)):,}"
    but = f", and by {decimal_text(cost.delta)} beyond that" if cost.delta else ""
    return f"Any one {cost.unit} changes the probability of whatever is published by a factor of at most {shown}{but}."


def card_lines(answer: Result, facts: PublicFacts, whole: PrivacyCost) -> Lines:
    """The card of one answer, heading by heading; `whole` is what all answers cost together."""
    cost, notes = answer.cost, {} if isinstance(answer, NoReply) else dict(answer.notes)
    public = [notes.get("public", "the question and its parameters, names and types of columns")]
    public += [facts.declared] if facts.declared else []
    public += ["the number of rows"] if cost.neighbors is Neighbors.CHANGE_ONE else []
    return [
        ("How large is epsilon?", f"{decimal_text(cost.epsilon)} for this answer. {guarantee(cost)}"),
        ("How large is delta?", decimal_text(cost.delta) if cost.delta else "0: the guarantee holds without exception"),
        ("What is the unit of privacy?", _unit(cost, facts)),
        ("What is protected?", facts.protects),
        ("Which tables are neighbours?", cost.neighbors.describe(cost.unit)),
        ("How does it add up?", _sum(whole, facts)),
        ("What was public?", "; ".join(public)),
        ("By which mechanism?", _mechanism(answer)),
        ("How accurate is it?", _accuracy(answer, notes)),
        ("Is it biased?", BIAS),
        ("Whom must one trust?", TRUST),
        ("Where does the noise come from?", _noise(answer, notes)),
        ("Are there side channels?", SIDE_CHANNELS),
        ("Who can reach the rows?", ACCESS),
        ("How were the data collected?", COLLECTION),
        ("What is not covered?", not_covered(cost, facts)),
        ("Where is it written down?", _provenance(facts)),
        *((heading.capitalize(), text) for heading, text in notes.items() if heading not in _USED),
    ]


def not_covered(cost: PrivacyCost, facts: PublicFacts) -> str:
    """What the guarantee does not speak of, in sentences."""
    epsilon = decimal_text(cost.epsilon)
    many = f"Several at once: for k of them that share a secret the factor is e to the power of k times {epsilon}."
    sentences = [
        many,
        f"What is true of everybody: whatever would be found without a {cost.unit} in the table may be concluded about it, too.",
        "Other releases about the same people, which add to this one: the ledger counts those of this table only.",
    ]
    if facts.max_rows_per_unit is not None:
        sentences.append(f"That all rows of one {cost.unit} carry the same id is the holder's word.")
    return " ".join(sentences)


def _sum(whole: PrivacyCost, facts: PublicFacts) -> str:
    so_far = f"the table has spent {facts.total} so far, of a budget of {facts.budget}"
    return f"All answers that are published here cost {whole} together; {so_far}."


def _unit(cost: PrivacyCost, facts: PublicFacts) -> str:
    if facts.max_rows_per_unit is None:
        return "a row: the holder of the table says that every row is somebody else"
    rows = f"{counted(facts.max_rows_per_unit, 'row')} of each {cost.unit} {'is' if facts.max_rows_per_unit == 1 else 'are'}"
    return f"a {cost.unit}, whatever rows that {cost.unit} has; at most {rows} used"


def _replies(answer: Result) -> Sequence[Release | NoReply]:
    return list(answer.values()) if isinstance(answer, GroupedRelease) else [answer]


def _mechanism(answer: Result) -> str:
    replies = _replies(answer)
    methods = ", ".join(dict.fromkeys(reply.method for reply in replies)) or "none"
    claims = dict.fromkeys(claim_text(reply.claim, reply.private) for reply in replies if isinstance(reply, Release))
    return f"{methods}: {'; '.join(claims)}" if claims else f"{methods}; it gave no reply, which costs the same"


def _noise(answer: Result, notes: dict[str, str]) -> str:
    numerics = f"; {notes['numerics']}" if "numerics" in notes else ""
    return f"{RANDOMNESS if answer.private else NOT_PRIVATE}{numerics}"


def _accuracy(answer: Result, notes: dict[str, str]) -> str:
    if isinstance(answer, NoReply):
        return f"There is no reply. {answer.reason} {answer.advice}".strip()
    released = [reply for reply in _replies(answer) if isinstance(reply, Release)]
    intervals = [each for reply in released for each in (reply.interval, *reply.intervals) if each]
    words = []
    if intervals:
        of = f" of {intervals[0].of}" if intervals[0].of else ""
        words.append(f"Each {100 * intervals[0].level:.10g}% interval{of} covers {intervals[0].covers}")
    elif any(reply.unknown for reply in released):
        words.append(f"The interval is unknown: {next(reply.unknown for reply in released if reply.unknown)}")
    if any(reply.rough for reply in released):
        words.append("rough: there are too few rows at this epsilon for a good answer")
    reliable = notes.get("reliable from") or next((dict(each.notes).get("reliable from", "") for each in released), "")
    words += [f"reliable from {reliable}"] if reliable else []
    return "; ".join(words) or "No interval was asked for; the notes below say what noise there is."


def _provenance(facts: PublicFacts) -> str:
    return f"In the ledger: {'; '.join(facts.entries)}. Made by dpstats {facts.version}."
