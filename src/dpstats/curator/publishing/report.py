"""The report of a publication: one page of HTML that needs nothing from elsewhere, with a figure and a card for each answer."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from dpstats.curator.archive import Result
from dpstats.curator.publishing.cards import Lines, PublicFacts, guarantee
from dpstats.foundations.grouped import GroupedRelease
from dpstats.foundations.privacy import PrivacyCost
from dpstats.foundations.results import NOT_PRIVATE, NoReply, Release, value_text
from dpstats.pictures.inline import bars_svg, inline_svg
from dpstats.statistics.binned.histogram import Histogram
from dpstats.statistics.contingency.tables import ContingencyTable, ContingencyTables
from dpstats.statistics.synthetic.data import SyntheticData

MOST_CELLS = 2_000
"""Cells of a table that is shown; its file has all of them."""
MOST_TABLES = 12
MOST_BARS = 30
_STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; max-width: 56rem; margin: 2rem auto;
  padding: 0 1rem; }
h1 { line-height: 1.2; } h2 { margin-top: 2.5rem; border-top: 1px solid #ccc; padding-top: 1rem; }
table { border-collapse: collapse; margin: .75rem 0; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .6rem; border-bottom: 1px solid #e3e3e3; text-align: left; vertical-align: top; }
td.n { text-align: right; } caption { text-align: left; font-weight: 600; padding: .2rem 0; }
svg { max-width: 100%; height: auto; } pre { overflow-x: auto; font-size: .85rem; }
.wide { overflow-x: auto; } .guarantee { background: #eef5fb; border-left: 4px solid #0072B2; padding: .75rem 1rem; }
.none { background: #fff6e5; border-left: 4px solid #E69F00; padding: .75rem 1rem; } .loud { color: #c00000; font-weight: 700; }
.value { font-size: 1.4rem; }
.quiet { color: #555; font-size: .9rem; overflow-wrap: anywhere; } summary { cursor: pointer; font-weight: 600; }
details th { width: 14rem; } figure { margin: .75rem 0; }
"""


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
        f"<h1>{_text(title)}</h1>",
        "" if private else f'<p class="loud">{_text(NOT_PRIVATE)}. Do not publish this.</p>',
        f"<p>{_text(description)}</p>" if description else "",
        _guarantee(cost, facts),
        _contents(answers),
        *(_section(number, each) for number, each in enumerate(answers, 1)),
        _provenance(facts, plan_digest),
    ]
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{_text(title)}</title>'
    body = "\n".join(part for part in parts if part)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head>{head}<style>{_STYLE}</style></head>\n<body>\n{body}\n</body></html>\n'.encode()
    )


def _guarantee(cost: PrivacyCost, facts: PublicFacts) -> str:
    words = f"{guarantee(cost)} All answers here cost {cost} together, for {facts.protects}"
    return f'<p class="guarantee">{_text(words)}.</p>'


def _contents(answers: Sequence[ReportedAnswer]) -> str:
    rows = [
        [f'<a href="#answer-{number}">{_text(each.title)}</a>', _text(_short(each.answer)), _text(str(each.answer.cost))]
        for number, each in enumerate(answers, 1)
    ]
    return _table("What is in it", ["answer", "", "cost"], rows)


def _section(number: int, each: ReportedAnswer) -> str:
    answer = each.answer
    parts = [
        f'<h2 id="answer-{number}">{number}. {_text(each.title)}</h2>',
        f"<p>{_text(each.description)}</p>" if each.description else "",
        f'<p class="quiet">{_text(answer.question)}</p>',
        *_body(number, answer),
        f'<p class="quiet">{_links(each.files)}</p>' if each.files else "",
        f"<details><summary>Card</summary>{_card(each.card)}</details>",
    ]
    return f"<section>\n{chr(10).join(part for part in parts if part)}\n</section>"


def _body(number: int, answer: Result) -> list[str]:
    """The answer itself: in words, as a figure, as tables."""
    if isinstance(answer, NoReply):
        return [f'<p class="none">No reply. {_text(answer.reason)} {_text(answer.advice)}</p>']
    if isinstance(answer, GroupedRelease):
        return [_figure(inline_svg(answer, f"answer-{number}")), f'<div class="wide">{answer._repr_html_()}</div>']
    value = answer.value
    if isinstance(value, ContingencyTables):
        return [f'<p class="value">{_text(str(value))}</p>', *_contingency(value)]
    if isinstance(value, SyntheticData):
        return [f'<p class="value">{_text(str(value))}</p>', *_synthetic(value)]
    headline = _text(answer.shown_value())
    interval = (
        f'<br><span class="quiet">{_text(f"{answer.interval}, covers {answer.interval.covers}")}</span>'
        if answer.interval
        else ""
    )
    rough = " (rough)" if answer.rough else ""
    parts = [f'<p class="value">{headline}{rough}{interval}</p>', _figure(inline_svg(answer, f"answer-{number}"))]
    if isinstance(value, Histogram):
        parts.append(f'<div class="wide">{value._repr_html_()}</div>')
    elif callable(getattr(value, "summary", None)):
        parts.append(f"<pre>{_text(answer.summary())}</pre>")
    return parts


def _contingency(value: ContingencyTables) -> list[str]:
    """The tables of most columns; those of three columns or more are in their files."""
    widest = [table for table in value if len(table.columns) == value.ways]
    shown = [table for table in widest if len(table.columns) <= 2 and table.counts.size <= MOST_CELLS][:MOST_TABLES]
    if not shown:
        shown = [table for table in value if len(table.columns) in (1, 2) and table.counts.size <= MOST_CELLS][:MOST_TABLES]
    parts = [_shaded(table, value.level) for table in shown]
    left_out = len([table for table in value if table.columns]) - len(shown)
    return [*parts, f'<p class="quiet">{left_out:,} more tables are in their files.</p>' if left_out else ""]


def _shaded(table: ContingencyTable, level: float | None) -> str:
    """A table of one or two columns, each cell the darker the more rows it has."""
    *before, last = table.columns
    counts = np.atleast_2d(table.counts)
    most = float(counts.max(initial=0.0)) or 1.0
    names: Sequence[str] = before[0].names if before else [""]
    rows = []
    for name, line in zip(names, counts, strict=True):
        cells = [
            f'<td class="n" style="background:rgba(0,114,178,{0.55 * max(float(count), 0.0) / most:.3f})">{count:,.0f}</td>'
            for count in line
        ]
        rows.append(f"<tr><th>{_text(name)}</th>{''.join(cells)}</tr>")
    reach = table.reach_text(level).strip()
    caption = " by ".join(table.names) + (f" ({reach})" if reach else "")
    heads = "".join(f"<th>{_text(name)}</th>" for name in ("", *last.names))
    return f'<div class="wide"><table><caption>{_text(caption)}</caption><tr>{heads}</tr>{"".join(rows)}</table></div>'


def _synthetic(value: SyntheticData) -> list[str]:
    """How rows are spread over each column, by the model itself."""
    figures = []
    for name in value.names:
        table = value.table(name)
        counts = [float(count) for count in table.counts]
        if len(counts) <= MOST_BARS:
            bars = bars_svg(f"rows by {name}", table.columns[0].names, counts)
            figures.append(f"<figure><figcaption>{_text(value_text(name))}</figcaption>{bars}</figure>")
    return ["<p>About how many rows of the table have each value, by the model that the rows were drawn from:</p>", *figures]


def _card(lines: Lines) -> str:
    rows = "".join(
        f"<tr><th>{_text(heading)}</th><td{' class=loud' if NOT_PRIVATE in text else ''}>{_text(text)}</td></tr>"
        for heading, text in lines
    )
    return f"<table>{rows}</table>"


def _provenance(facts: PublicFacts, plan_digest: str) -> str:
    rows = [
        ["ledger", f"entry {facts.sequence} about {facts.dataset}, {facts.time}, SHA-256 {facts.digest}"],
        ["spent in all", f"{facts.total} of {facts.budget}, added up by the {facts.accountant} accountant"],
        ["plan", f"SHA-256 {plan_digest}; manifest.json has all of it"],
        ["made by", f"dpstats {facts.version}"],
        ["to check it", "dpstats publish --verify FOLDER, and with --ledger LEDGER also that the ledger has this entry"],
    ]
    listed = "".join(f'<tr><th>{_text(head)}</th><td class="quiet">{_text(text)}</td></tr>' for head, text in rows)
    return f"<h2>Where it comes from</h2><table>{listed}</table>"


def _short(answer: Result) -> str:
    if isinstance(answer, NoReply):
        return "no reply"
    if isinstance(answer, Release):
        within = f", {answer.interval}" if answer.interval else ""
        return f"{answer.shown_value()}{within}"
    replied = sum(isinstance(reply, Release) for reply in answer.values())
    return f"{replied:,} of {len(answer):,} groups"


def _figure(svg: str | None) -> str:
    return f"<figure>{svg}</figure>" if svg else ""


def _links(files: Sequence[str]) -> str:
    return ", ".join(f'<a href="{_text(name)}">{_text(name)}</a>' for name in files)


def _table(caption: str, heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    top = "".join(f"<th>{_text(head)}</th>" for head in heads)
    lines = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="wide"><table><caption>{_text(caption)}</caption><tr>{top}</tr>{lines}</table></div>'


def _text(text: str) -> str:
    return html.escape(text)
