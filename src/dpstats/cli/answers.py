"""Answers as the command line prints them, for people and for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from dpstats.foundations.addresses import without_passwords
from dpstats.foundations.privacy import PrivacyCost
from dpstats.foundations.results import NOT_PRIVATE, NoReply, Release, value_text
from dpstats.foundations.text_tables import headed_lines
from dpstats.statistics.contingency.tables import ContingencyTables
from dpstats.statistics.universe.weighted_universe import WeightedUniverse


def plain_text(answers: Sequence[Release | NoReply], total: PrivacyCost, *, cards: bool) -> str:
    """The answers for people."""
    blocks = [_answer_text(answer) for answer in answers]
    if cards:
        blocks = [str(answer.card(whole=True) if isinstance(answer, Release) else answer.card()) for answer in answers]
    blocks.append(
        f"Spent by this call: {total}. Neighbours: {total.neighbors.describe(total.unit)}.\n"
        "Nothing keeps count between calls: every further call on the same data spends more on top of this."
    )
    if not all(answer.private for answer in answers):
        blocks.insert(0, f"*** {NOT_PRIVATE} ***")
    return "\n\n".join(blocks)


def json_text(file: str, answers: Sequence[Release | NoReply], total: PrivacyCost) -> str:
    """The answers for programs: one object."""
    result = {
        "file": without_passwords(file),
        "answers": [answer.to_dict() for answer in answers],
        "total": total.to_dict(),
        "private": all(answer.private for answer in answers),
    }
    return json.dumps(result, indent=2, ensure_ascii=False, allow_nan=False)


def _answer_text(answer: Release | NoReply) -> str:
    if isinstance(answer, NoReply):
        return f"{answer.question}: no reply\n  {answer.reason} {answer.advice}\n  cost      {answer.cost}"
    has_summary = callable(getattr(answer.value, "summary", None))
    rough = " (rough)" if answer.rough else ""
    shown = value_text(answer.value) if isinstance(answer.value, tuple) else answer.shown_value()
    lines = [f"{answer.question}{rough}" if has_summary else f"{answer.question} = {shown}{rough}"]
    if answer.interval:
        lines.append(f"  interval  {answer.interval}; covers {answer.interval.covers}")
    elif answer.unknown:
        lines.append(f"  interval  unknown: {answer.unknown}")
    if has_summary:
        lines += [f"  {line}" for line in answer.summary().splitlines()]
    elif hasattr(answer.value, "bars"):
        lines += [f"  {line}" for line in answer.value.bars(ascii_only=not _has_blocks()).splitlines()]
    elif isinstance(answer.value, (ContingencyTables, WeightedUniverse)):
        lines += [f"  {line}" for line in answer.value.text().splitlines()]
    elif answer.intervals:
        lines += _interval_lines(answer)
    if answer.intervals:
        lines.append(f"  each      {100 * answer.intervals[0].level:.10g}% interval covers {answer.intervals[0].covers}")
    lines.append(f"  cost      {answer.cost}")
    if reliable_from := dict(answer.notes).get("reliable from"):
        lines.append(f"  note      reliable from {reliable_from.partition(';')[0]}")
    return "\n".join(lines)


def _interval_lines(answer: Release) -> list[str]:
    """The interval of each of several values beside it, or where there are none to put it beside, by itself."""
    intervals = [f"{value_text(each.low)} to {value_text(each.high)}" for each in answer.intervals]
    several = getattr(answer.value, "values", answer.value)
    if not isinstance(several, (tuple, list)) or len(several) != len(intervals):
        return [f"  interval  {interval}" for interval in intervals]
    return [f"  interval{line}" for line in headed_lines(zip(map(value_text, several), intervals, strict=True))]


def _has_blocks() -> bool:
    """Whether the output can show the characters that bars are drawn with."""
    try:
        "█▓░".encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
