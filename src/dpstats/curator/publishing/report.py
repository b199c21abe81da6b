"""The report of a publication: one page with a figure, tables and a card for each answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from dpstats.curator.archive import Result
from dpstats.curator.publishing.cards import Lines, PublicFacts, guarantee
from dpstats.curator.publishing.page import escaped, head, links, named_lines, page, table, wide
from dpstats.foundations.grouped import GroupedRelease
from dpstats.foundations.privacy import PrivacyCost
from dpstats.foundations.results import NOT_PRIVATE, NoReply, Release, value_text
from dpstats.foundations.text_tables import counted
from dpstats.pictures.inline import bars_svg, inline_svg
from dpstats.statistics.binned.histogram import Histogram
from dpstats.statistics.contingency.tables import ContingencyTable, ContingencyTables, count_text
from dpstats.statistics.synthetic.data import SyntheticData
from dpstats.statistics.universe.small_databases import SmallDatabase
from dpstats.statistics.universe.weighted_universe import WeightedUniverse

MOST_CELLS = 2_000
"""Cells of a table that is shown; its file has all of them."""
MOST_TABLES, MOST_BARS, MOST_LINES, MOST_LINKS = 12, 30, 60, 8


@dataclass(frozen=True)
class ReportedAnswer:
    """One answer with all that the report says of it."""

    title: str
    description: str
    answer: Result
    card: Lines
    files: Sequence[str]


def report_html(
    title: str, description: str, answers: Sequence[ReportedAnswer], cost: PrivacyCost, facts: PublicFacts, plan_digest: str
) -> bytes:
    """The whole page."""
    private = all(each.answer.private for each in answers)
    parts = [
        f"<header>\n<h1>{escaped(title)}</h1>",
        "" if private else f'<p class="loud">{escaped(NOT_PRIVATE)}. Do not publish this.</p>',
        f"<p>{escaped(description)}</p>" if description else "",
        f"{_guarantee(cost, facts)}\n</header>\n<main>",
        _contents(answers),
        *(_section(number, each) for number, each in enumerate(answers, 1)),
        f"{_provenance(facts, plan_digest)}\n</main>",
    ]
    return page(title, parts)


def _guarantee(cost: PrivacyCost, facts: PublicFacts) -> str:
    together = f"All answers here cost {cost} together. Protected is {facts.protects}."
    return f'<div class="guarantee"><p>{escaped(guarantee(cost))}</p><p>{escaped(together)}</p></div>'


def _contents(answers: Sequence[ReportedAnswer]) -> str:
    rows = [
        [f'<a href="#answer-{number}">{escaped(each.title)}</a>', escaped(_short(each.answer)), escaped(str(each.answer.cost))]
        for number, each in enumerate(answers, 1)
    ]
    return table("What is in it", ["answer", "in short", "cost"], rows)


def _section(number: int, each: ReportedAnswer) -> str:
    answer = each.answer
    parts = [
        f'<h2 id="answer-{number}">{number}. {escaped(each.title)}</h2>',
        f"<p>{escaped(each.description)}</p>" if each.description else "",
        f'<p class="quiet">{escaped(answer.question)}</p>',
        *_body(number, answer),
        links(each.files, MOST_LINKS),
        f"<details><summary>Card</summary>{_card(each.card)}</details>",
    ]
    inside = "\n".join(part for part in parts if part)
    return f'<section aria-labelledby="answer-{number}">\n{inside}\n</section>'


def _body(number: int, answer: Result) -> list[str]:
    """The answer itself: in words, as a figure, as tables."""
    if isinstance(answer, NoReply):
        return [f'<p class="none">No reply. {escaped(answer.reason)} {escaped(answer.advice)}</p>']
    if isinstance(answer, GroupedRelease):
        return [_figure(number, answer), wide(answer.question, answer._repr_html_())]
    value, rough = answer.value, " (rough)" if answer.rough else ""
    parts = [f'<p class="value">{escaped(answer.shown_value())}{rough}</p>']
    if answer.interval:
        within = escaped(f"interval {answer.interval.named}; it covers {answer.interval.covers}")
        parts.append(f'<p class="quiet">{within}</p>')
    elif answer.unknown:
        parts.append(f'<p class="quiet">{escaped(f"interval unknown: {answer.unknown}")}</p>')
    if isinstance(value, ContingencyTables):
        return [*parts, *_contingency(value)]
    if isinstance(value, SyntheticData):
        return [*parts, *_synthetic(value)]
    if isinstance(value, WeightedUniverse):
        cells = [[*map(value_text, levels), count_text(count)] for levels, count in value.cells()]
        return [*parts, _listed("Rows by the weights", [*value.columns, "rows"], cells)]
    if isinstance(value, SmallDatabase):
        lines = [[*map(value_text, row), f"{count:,}"] for row, count in zip(value.rows, value.counts, strict=True)]
        return [*parts, _listed("Rows of the database", [*value.columns, "how often"], lines)]
    parts.append(_figure(number, answer))
    if isinstance(value, Histogram):
        parts.append(_bins(value))
    elif callable(getattr(value, "summary", None)):
        parts.append(f'<pre tabindex="0">{escaped(answer.summary())}</pre>')
    return parts


def _bins(value: Histogram) -> str:
    within = [] if value.level is None else [f"{100 * value.level:.10g}% interval"]
    bins = zip(value.names, value.counts, value.low, value.high, strict=True)
    lines = [[name, f"{count:,}", *([f"{low:,} to {high:,}"] if within else [])] for name, count, low, high in bins]
    return _listed("Rows in each bin", ["bin", "rows", *within], lines, 1 + len(within))


def _listed(caption: str, heads: Sequence[str], lines: Sequence[Sequence[str]], numbers: int = 1) -> str:
    """The first ones of some lines of texts."""
    shown = [[escaped(cell) for cell in line] for line in islice(lines, MOST_LINES)]
    more = f" (the first {len(shown):,} of {len(lines):,}; the file has all of them)" if len(lines) > len(shown) else ""
    return table(f"{caption}{more}", heads, shown, numbers)


def _contingency(value: ContingencyTables) -> list[str]:
    """The tables of most columns among those that are not too large to be read."""
    every = [each for each in value if each.columns]
    fitting = [each for each in every if each.counts.size <= MOST_CELLS]
    ways = max((len(each.columns) for each in fitting), default=0)
    shown = [each for each in fitting if len(each.columns) == ways][:MOST_TABLES]
    left_out = len(every) - len(shown)
    more = f"{left_out:,} more {'table is in its file' if left_out == 1 else 'tables are in their files'}."
    return [*(_shaded(each, value.level) for each in shown), f'<p class="quiet">{more}</p>' if left_out else ""]


def _shaded(counted: ContingencyTable, level: float | None) -> str:
    """A table of counts, the codes of its last column side by side, each cell the darker the more rows it has."""
    *before, last = counted.columns
    most = max(float(counted.counts.max(initial=0.0)), 1.0)
    rows = []
    for place in np.ndindex(*counted.counts.shape[:-1]):
        names = [column.names[code] for column, code in zip(before, place, strict=True)] or ["rows"]
        shades = [0.55 * max(float(count), 0.0) / most for count in counted.counts[place]]
        cells = [
            f'<td class="n" style="background:rgba(0,114,178,{shade:.3f})">{count_text(count)}</td>'
            for shade, count in zip(shades, counted.counts[place], strict=True)
        ]
        rows.append(f"<tr>{''.join(head(name, 'row') for name in names)}{''.join(cells)}</tr>")
    reach = counted.reach_text(level).strip()
    caption = " by ".join(counted.names) + (f" ({reach})" if reach else "")
    corner = "".join(head(column.name, "col") for column in before) or "<td></td>"
    heads = "".join(head(name, "col", "n") for name in last.names)
    above = f"<caption>{escaped(caption)}</caption><thead><tr>{corner}{heads}</tr></thead>"
    return wide(caption, f"<table>{above}<tbody>{''.join(rows)}</tbody></table>")


def _synthetic(value: SyntheticData) -> list[str]:
    """How rows are spread over each column, by the model itself."""
    figures = []
    for name in value.names:
        counted = value.table(name)
        counts = [float(count) for count in counted.counts]
        if len(counts) <= MOST_BARS:
            title = f"rows by {value_text(name)}"
            bars = bars_svg(title, counted.columns[0].names, counts)
            figures.append(f"<figure><figcaption>{escaped(title)}</figcaption>{bars}</figure>")
    return ["<p>About how many rows of the table have each value, by the model that the rows were drawn from:</p>", *figures]


def _figure(number: int, answer: Release | GroupedRelease) -> str:
    """What is drawn of an answer, and how to read it; nothing where it cannot be drawn."""
    svg = inline_svg(answer, f"answer-{number}")
    if svg is None:
        return ""
    legend = _legend(answer)
    words = escaped(f"{answer.question}. {legend}")
    named = svg.replace("<svg ", f'<svg role="img" aria-label="{words}" ', 1)
    return f"<figure><figcaption>{escaped(legend)}</figcaption>{named}</figure>"


def _legend(answer: Release | GroupedRelease) -> str:
    releases = [answer] if isinstance(answer, Release) else [each for each in answer.values() if isinstance(each, Release)]
    histograms = [each.value for each in releases if isinstance(each.value, Histogram)]
    intervals = [each for release in releases for each in (release.interval, *release.intervals) if each]
    levels = [level for level in (*(each.level for each in histograms), *(each.level for each in intervals)) if level is not None]
    within = f"{100 * levels[0]:.10g}% intervals" if levels else ""
    if histograms:
        return f"Bars are rows in each bin{f'; whiskers are {within}' if within else ''}."
    if isinstance(answer, Release) and len(intervals) < 2:
        named = intervals[0].of if intervals else ""
        return f"The dot is {named or 'the answer'}{f'; the line is its {within[:-1]}' if within else ''}."
    return f"Dots are estimates{f'; lines are {within}' if within else ''}."


def _card(lines: Lines) -> str:
    loud = ' class="loud"'
    return named_lines((name, f"<td{loud if NOT_PRIVATE in text else ''}>{escaped(text)}</td>") for name, text in lines)


def _provenance(facts: PublicFacts, plan_digest: str) -> str:
    lines: Iterable[tuple[str, str]] = [
        ("ledger", "; ".join(facts.entries)),
        ("spent in all", f"{facts.total} of {facts.budget}, added up by the {facts.accountant} accountant"),
        ("plan", f"SHA-256 {plan_digest}; manifest.json has all of it"),
        ("made by", f"dpstats {facts.version}"),
        ("to check it", "dpstats publish --verify FOLDER, and with --ledger LEDGER also that the ledger paid for it"),
    ]
    listed = named_lines((name, f'<td class="quiet">{escaped(text)}</td>') for name, text in lines)
    return f"<h2>Where it comes from</h2>{listed}"


def _short(answer: Result) -> str:
    if isinstance(answer, NoReply):
        return "no reply"
    if isinstance(answer, Release):
        rough = " (rough)" if answer.rough else ""
        within = f", interval {answer.interval.named}" if answer.interval else ""
        return f"{answer.shown_value()}{rough}{within}"
    replied = sum(isinstance(reply, Release) for reply in answer.values())
    return f"{replied:,} of {counted(len(answer), 'group')}"
